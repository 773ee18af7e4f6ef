import type { EntityManager } from '@mikro-orm/postgresql';

import type { Viewer } from '../api-keys/service.ts';
import type { LinkOutlet } from '../magic-links/service.ts';
import type { Loaders } from './loaders.ts';

/** What every resolver of the brand's interface gets. */
export interface Context {
  /** Who asks: the API key with its brand and scopes. Every read and write is on its behalf. */
  viewer: Viewer;
  em: EntityManager;
  loaders: Loaders;
  /** How magic links are addressed and mailed. */
  linkOutlet: LinkOutlet;
}
