/**
 * For MikroORM's command line only (`npm run orm -- migration:pending`); the service configures
 * itself in src/database/orm.ts, from which this takes everything. It works on DATABASE_URL, or,
 * without one, on the embedded database in DATA_DIR: stop the service first in that case.
 */
import { join } from 'node:path';

import { readConfig } from './src/config.ts';
import { ormOptions } from './src/database/orm.ts';

const { databaseUrl, dataDir } = readConfig();

export default ormOptions(
  databaseUrl
    ? { kind: 'postgresql', url: databaseUrl }
    : { kind: 'embedded', dataDir: join(dataDir, 'database') },
);
