import DataLoader from 'dataloader';

/** Reads many keys at once: one value for each key, in the keys' order. */
type BatchRead<Value> = (keys: readonly string[]) => Promise<Value[]>;

/**
 * The dataloaders of one request, made when first asked for. A loader reads all the keys that one
 * level of a query asks for with one statement, and each key once.
 */
export class Loaders {
  readonly #loaders = new Map<string, DataLoader<string, unknown>>();

  /**
   * The loader of a name, which reads all the keys that are asked for together. The name must say
   * everything that `read` depends on besides the keys, such as the arguments of a list.
   */
  get<Value>(name: string, read: BatchRead<Value>): DataLoader<string, Value> {
    let loader = this.#loaders.get(name);
    if (!loader) {
      loader = new DataLoader<string, unknown>(read, { name });
      this.#loaders.set(name, loader);
    }
    return loader as DataLoader<string, Value>;
  }

  /** Forgets everything read so far; a mutation that has written calls it. */
  clear(): void {
    this.#loaders.clear();
  }
}
