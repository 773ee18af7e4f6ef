// Every slice of the brand's interface; each adds its types and its queries to the builder.
import '../brands/schema.ts';
import '../events/schema.ts';
import '../groups/schema.ts';
import '../members/schema.ts';
import '../magic-links/schema.ts';
import '../posts/schema.ts';
import '../products/schema.ts';
import '../products/variant-schema.ts';
import '../products/bulk-schema.ts';
import { builder } from './builder.ts';

/** The brand's interface, `/graphql`. */
export const brandSchema = builder.toSchema({ sortSchema: false });
