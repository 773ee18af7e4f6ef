import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ZodPlugin from '@pothos/plugin-zod';

import { USER_ERROR_CODES, type UserError } from '../errors.ts';
import type { Context } from './context.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { toBadInput } from './input.ts';
import { DateTimeScalar, SafeIntScalar } from './scalars.ts';

interface SchemaTypes {
  Context: Context;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    SafeInt: { Input: number; Output: number | string };
  };
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
}

/** Builds the brand's interface. It knows no type: each slice adds its own, beside its queries. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [RelayPlugin, ZodPlugin],
  zod: { validationError: toBadInput },
  relay: {
    // An id is the record's UUID everywhere; what type it is of, the database knows.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: '', id }),
    nodesOnConnection: { description: DESCRIPTIONS.nodes },
    nodeTypeOptions: { description: 'A record with an id of its own.' },
    idFieldOptions: {
      description: 'A UUID: the same one in webhooks and in the platform interface.',
    },
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    firstArgOptions: { description: DESCRIPTIONS.first },
    lastArgOptions: { description: DESCRIPTIONS.last },
    afterArgOptions: { description: DESCRIPTIONS.after },
    beforeArgOptions: { description: DESCRIPTIONS.before },
    pageInfoTypeOptions: { description: DESCRIPTIONS.pageInfoType },
    pageInfoFieldOptions: { description: DESCRIPTIONS.pageInfo },
    hasNextPageFieldOptions: { description: DESCRIPTIONS.hasNextPage },
    hasPreviousPageFieldOptions: { description: DESCRIPTIONS.hasPreviousPage },
    startCursorFieldOptions: { description: DESCRIPTIONS.startCursor },
    endCursorFieldOptions: { description: DESCRIPTIONS.endCursor },
    edgesFieldOptions: { description: DESCRIPTIONS.edges, nullable: { list: false, items: false } },
    nodeFieldOptions: { description: DESCRIPTIONS.node, nullable: false },
    cursorFieldOptions: { description: DESCRIPTIONS.cursor },
  },
});

builder.queryType({
  description: 'Reading. Every record that it gives belongs to the brand of the credential.',
});
builder.mutationType({
  description:
    'Writing. Each field is one transaction: a payload with `userErrors` means that nothing of it was done, ' +
    'unless the field says otherwise.',
});

builder.addScalarType('DateTime', DateTimeScalar);
builder.addScalarType('SafeInt', SafeIntScalar);

export const ListOrder = builder.enumType('ListOrder', {
  description: 'By creation time, then id.',
  values: {
    OLDEST_FIRST: { description: 'The record that was made first comes first.' },
    NEWEST_FIRST: { description: 'The record that was made last comes first.' },
  } as const,
});

const UserErrorCodeEnum = builder.enumType('UserErrorCode', {
  description: 'Why a change was refused.',
  values: Object.fromEntries(
    Object.entries(USER_ERROR_CODES).map(([code, description]) => [code, { description }]),
  ),
});

export const UserErrorRef = builder.objectRef<UserError>('UserError').implement({
  description:
    'A refusal that depends on the state of the data: an unknown record, a taken storeId. Input that no state could ' +
    'make valid is a top-level error with code BAD_USER_INPUT instead.',
  fields: (t) => ({
    code: t.expose('code', {
      type: UserErrorCodeEnum,
      nullable: false,
      description: 'Which kind of refusal it is.',
    }),
    field: t.exposeStringList('field', {
      nullable: { list: true, items: false },
      description: 'The path into input, as in ["upsertRecords", "3", "productStoreId"].',
    }),
    message: t.exposeString('message', {
      nullable: false,
      description: 'What is wrong, for people.',
    }),
  }),
});
