import { readFileSync } from 'node:fs';

import {
  buildSchema,
  findBreakingChanges,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';

import { printBrandSchema } from '../src/graphql/print.ts';
import { brandSchema } from '../src/graphql/schema.ts';
import { platformSchema } from '../src/platform/schema.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

const contractText = read('contract.graphql');
const contract = buildSchema(contractText);

/** What platform.graphql takes from the contract. */
const SHARED = ['scalar DateTime', 'type PageInfo', 'type UserError', 'enum UserErrorCode']
  .map((start) => contractText.slice(contractText.indexOf(start)).split(/\n(?=\n)/)[0])
  .join('\n');
const platformContract = buildSchema(`${read('platform.graphql')}\n${SHARED}`);

/**
 * What the contracts hold that is not built yet: types, and fields of types that are. A name that
 * is built after all fails the test, so the list only shrinks.
 */
const LATER_TYPES = [
  /^Webhook/,
  /^ApiKey/,
  /^Subscription$/,
  /^(Create|Update|Delete)WebhookEndpoint/,
  /^(RotateWebhookSecret|SendTestWebhook|ResendWebhookDelivery|ReplayWebhookEvents)/,
  /^(Create|Revoke)ApiKey(Input|Payload)$/,
];
const LATER_FIELDS = new Set([
  ...['webhookEndpoint', 'webhookEndpoints', 'apiKeys'].map((f) => `Query.${f}`),
  ...['createWebhookEndpoint', 'updateWebhookEndpoint', 'deleteWebhookEndpoint'].map(
    (f) => `Mutation.${f}`,
  ),
  ...['rotateWebhookSecret', 'sendTestWebhook', 'resendWebhookDelivery'].map(
    (f) => `Mutation.${f}`,
  ),
  ...['replayWebhookEvents', 'createApiKey', 'revokeApiKey'].map((f) => `Mutation.${f}`),
]);

function namedTypes(schema: GraphQLSchema): GraphQLNamedType[] {
  return Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
}

/** Every type, and every field, argument and enum value as `Type.field` and `Type.field.argument`. */
function* members(
  type: GraphQLNamedType,
): Generator<{ name: string; description?: string | null }> {
  yield { name: type.name, description: type.description };
  if (isEnumType(type)) {
    for (const value of type.getValues()) {
      yield { name: `${type.name}.${value.name}`, description: value.description };
    }
  }
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return;
  for (const field of Object.values(type.getFields())) {
    yield { name: `${type.name}.${field.name}`, description: field.description };
    for (const argument of 'args' in field ? field.args : []) {
      yield {
        name: `${type.name}.${field.name}.${argument.name}`,
        description: argument.description,
      };
    }
  }
}

/** What breaks for a client of the contract, apart from what is left for later. */
function findMissing(
  agreed: GraphQLSchema,
  built: GraphQLSchema,
  laterTypes: RegExp[],
  laterFields: Set<string>,
): string[] {
  const isLater = (description: string) => {
    const [subject = ''] = /[A-Z]\w*(\.\w+)?/.exec(description) ?? [];
    const [typeName = ''] = subject.split('.');
    return laterFields.has(subject) || laterTypes.some((pattern) => pattern.test(typeName));
  };
  const changes = findBreakingChanges(agreed, built).map(({ description }) => description);
  return changes.filter((description) => !isLater(description));
}

function findBuiltEarly(
  schema: GraphQLSchema,
  laterTypes: RegExp[],
  laterFields: Set<string>,
): string[] {
  return namedTypes(schema)
    .flatMap((type) => [...members(type)].map(({ name }) => name))
    .filter((name) => laterFields.has(name) || laterTypes.some((pattern) => pattern.test(name)));
}

describe('schema.graphql', () => {
  it('is what the code prints; npm run schema renews it', () => {
    expect(read('../schema.graphql') === printBrandSchema()).toBe(true);
  });

  it('contains the whole contract but for what comes later', () => {
    expect(findMissing(contract, brandSchema, LATER_TYPES, LATER_FIELDS)).toEqual([]);
    expect(findBuiltEarly(brandSchema, LATER_TYPES, LATER_FIELDS)).toEqual([]);
  });

  it('would notice a field, an argument, a value or a nullability that is missing', () => {
    const weakened = printSchema(brandSchema)
      .replace('storeId: String!', 'shopId: String!')
      .replace('updatedAfter: DateTime', 'since: DateTime')
      .replace('title: String!', 'title: String')
      .replace('  SKIP_FAILED\n', '  SKIP\n');
    const missing = findMissing(contract, buildSchema(weakened), LATER_TYPES, LATER_FIELDS);
    expect(missing.length).toBeGreaterThanOrEqual(4);
  });

  it('describes every type, field, argument and enum value', () => {
    const undescribed = namedTypes(brandSchema)
      .flatMap((type) => [...members(type)])
      .filter(({ description }) => !description?.trim());
    expect(undescribed.map(({ name }) => name)).toEqual([]);
  });
});

describe('the platform schema', () => {
  it('contains the whole contract', () => {
    expect(findMissing(platformContract, platformSchema, [], new Set())).toEqual([]);
  });

  it('describes every type, field, argument and enum value', () => {
    const undescribed = namedTypes(platformSchema)
      .flatMap((type) => [...members(type)])
      .filter(({ description }) => !description?.trim());
    expect(undescribed.map(({ name }) => name)).toEqual([]);
  });
});
