import { parseId } from '../database/ids.ts';
import { query } from '../database/statements.ts';
import { BadInputError } from '../errors.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

/** A type that `node` and `nodes` can give. */
interface NodeType {
  typename: string;
  /** The table whose ids are of this type; left out where no statement is needed to know one. */
  table?: string;
  /** The rows of the viewer's brand by id, in the ids' order, null for what is none of its. */
  getRows: (context: Context, ids: readonly string[]) => Promise<(object | null)[]>;
}

const MAX_IDS = 100;

const nodeTypes: NodeType[] = [];

/** Makes the records of a type reachable by `node` and `nodes`; each slice does it for its own. */
export function addNodeType(type: NodeType): void {
  nodeTypes.push(type);
}

/**
 * Records of any type by id, null for what is unknown. One statement finds the types of all ids,
 * and one for each type that occurs reads the rows.
 */
async function getNodes(context: Context, ids: readonly string[]): Promise<(object | null)[]> {
  const types = await findTypes(context, ids);
  const nodes = new Map<string, object>();
  await Promise.all(
    nodeTypes.map(async ({ typename, table, getRows }) => {
      const own = table ? ids.filter((id) => types.get(id) === typename) : ids;
      if (own.length === 0) return;
      const rows = await getRows(context, own);
      rows.forEach((row, index) => {
        // A row knows its own type where one table holds several.
        if (row) nodes.set(own[index]!, { __typename: typename, ...row });
      });
    }),
  );
  return ids.map((id) => nodes.get(id) ?? null);
}

async function findTypes(
  { em, viewer }: Context,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const selects = nodeTypes.flatMap(({ typename, table }) =>
    table
      ? [
          `select id, '${typename}' as typename from ${table} where brand_id = $1 and id = any ($2::uuid[])`,
        ]
      : [],
  );
  const text = selects.join(' union all ');
  const rows = await query<{ id: string; typename: string }>(em, text, [viewer.brand.id, ids]);
  return new Map(rows.map(({ id, typename }) => [id, typename]));
}

function loadNode(context: Context, id: string): Promise<object | null> | null {
  const known = parseId(id);
  if (known === null) return null;
  return context.loaders.get('node', (ids) => getNodes(context, ids)).load(known);
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'A record of any type by its id; null, without an error, for anything else.',
    args: { id: t.arg.id({ required: true, description: 'The id of the record.' }) },
    resolve: (_root, { id }, context) => loadNode(context, id) as never,
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description:
      'Records of any type by their ids, in the order of the ids; null for each that there is none for.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: `The ids of the records. At most ${MAX_IDS}.`,
      }),
    },
    resolve: (_root, { ids }, context) => {
      if (ids.length > MAX_IDS) {
        throw new BadInputError([{ path: ['ids'], message: `must hold at most ${MAX_IDS} ids` }]);
      }
      return ids.map((id) => loadNode(context, id)) as never;
    },
  }),
}));
