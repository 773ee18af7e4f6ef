/**
 * For MikroORM's command line only (`npm run orm -- migration:pending`); the service configures
 * itself in src/database/orm.ts, from which this takes everything. It works on DATABASE_URL, or,
 * without one, on the embedded database in DATA_DIR, which it takes for itself as the service does:
 * two processes on one embedded database destroy it.
 */
import { join } from 'node:path';

import { readConfig } from './src/config.ts';
import { openDataDir } from './src/database/data-dir.ts';
import { ormOptions } from './src/database/orm.ts';

// Nothing is served here, so a replica's PLATFORM_KEY is not asked for.
const { databaseUrl, dataDir } = readConfig({ ...process.env, PLATFORM_KEY: '-'.repeat(32) });

if (databaseUrl === undefined) openDataDir(dataDir);

export default ormOptions(
  databaseUrl === undefined
    ? { kind: 'embedded', dataDir: join(dataDir, 'database') }
    : { kind: 'postgresql', url: databaseUrl },
);
