// Everything of the platform interface; each part adds its types and its fields to the builder.
import './brand-schema.ts';
import './activity-schema.ts';
import './login-schema.ts';
import { builder } from './builder.ts';

/** The operator's interface, `/platform`. */
export const platformSchema = builder.toSchema({ sortSchema: false });
