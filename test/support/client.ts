/** Any JSON; tests look into it freely. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** One answer of a GraphQL server. */
interface Answer {
  status: number;
  headers: Headers;
  data: Json;
  errors:
    | { message: string; path?: (string | number)[]; locations?: object[]; extensions: Json }[]
    | undefined;
}

/** Asks one GraphQL address over HTTP, with one key. */
export interface GraphqlClient {
  ask(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
}

const TIMEOUT_MS = 30_000;

/** A client for an address; without a key it sends none. */
export function createClient(address: string, key?: string): GraphqlClient {
  return {
    async ask(query, variables, headers) {
      const response = await fetch(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { data, errors } = (await response.json()) as Pick<Answer, 'data' | 'errors'>;
      return { status: response.status, headers: response.headers, data, errors };
    },
  };
}

/** Sends HTTP requests that no GraphQL client would make, with a key unless the headers say otherwise. */
export interface RawClient {
  send(path: string, init?: RequestInit): Promise<Response>;
  /** A body for /graphql, as JSON unless the headers say otherwise. */
  post(body: string, headers?: Record<string, string>): Promise<Response>;
}

/** A client for requests as a test wants them. */
export function createRawClient(url: string, key: string): RawClient {
  const send: RawClient['send'] = (path, init = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(init.headers as object) };
    return fetch(`${url}${path}`, { ...init, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  };
  const post: RawClient['post'] = (body, headers) =>
    send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  return { send, post };
}
