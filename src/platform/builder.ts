import type { EntityManager } from '@mikro-orm/postgresql';
import SchemaBuilder from '@pothos/core';
import ZodPlugin from '@pothos/plugin-zod';

import { RefusedError, USER_ERROR_CODES, type UserError } from '../errors.ts';
import { toBadInput } from '../graphql/input.ts';
import { DateTimeScalar } from '../graphql/scalars.ts';

/** What every resolver of the platform interface gets. No brand stands behind its credential. */
export interface PlatformContext {
  em: EntityManager;
}

interface SchemaTypes {
  Context: PlatformContext;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
  };
}

/** Builds the platform interface. Two builders cannot share types, so it has its own UserError. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ZodPlugin],
  zod: { validationError: toBadInput },
});

builder.queryType({ description: 'Reading, over all brands.' });
builder.mutationType({ description: 'Writing. Each field is one transaction.' });

builder.addScalarType('DateTime', DateTimeScalar);

const UserErrorCodeEnum = builder.enumType('UserErrorCode', {
  description: 'Why a change was refused.',
  values: Object.fromEntries(
    Object.entries(USER_ERROR_CODES).map(([code, description]) => [code, { description }]),
  ),
});

export const UserErrorRef = builder.objectRef<UserError>('UserError').implement({
  description: 'A refusal that depends on the state of the data, such as an unknown brand.',
  fields: (t) => ({
    code: t.expose('code', {
      type: UserErrorCodeEnum,
      nullable: false,
      description: 'Which kind of refusal it is.',
    }),
    field: t.exposeStringList('field', {
      nullable: { list: true, items: false },
      description: 'The path into input.',
    }),
    message: t.exposeString('message', {
      nullable: false,
      description: 'What is wrong, for people.',
    }),
  }),
});

/**
 * Runs what a mutation does and puts what it gives, or its refusal, into a payload; fields that are
 * not given are null. Any other error goes on.
 */
export async function toPayload<Result extends object>(
  work: () => Promise<Result>,
): Promise<Partial<Result> & { userErrors: UserError[] }> {
  try {
    return { ...(await work()), userErrors: [] };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { userErrors: error.userErrors } as Partial<Result> & { userErrors: UserError[] };
  }
}
