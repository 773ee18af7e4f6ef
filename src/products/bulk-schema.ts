import { builder, UserErrorRef } from '../graphql/builder.ts';
import type { Context } from '../graphql/context.ts';
import { list, MAX_LINE, text } from '../graphql/input.ts';
import type { BulkOutcome, BulkResult } from './bulk-statements.ts';
import { type BulkAnswer, bulkProducts, bulkProductVariants, MAX_BULK_RECORDS } from './bulk.ts';
import { CreateProductInput, productLoader, ProductRef, ProductVariantRef } from './schema.ts';
import { CreateProductVariantInput, variantLoader } from './variant-schema.ts';

const BulkErrorPolicyEnum = builder.enumType('BulkErrorPolicy', {
  description: 'What one record that cannot be written does to the others of its call.',
  values: {
    REJECT_ALL: { description: 'One bad record and nothing is written. The default.' },
    SKIP_FAILED: {
      description:
        'Records refused for the state of the data are left out, and the others are written. Malformed input still ' +
        'refuses the whole call.',
    },
  } as const,
});

const BulkOutcomeEnum = builder.enumType('BulkOutcome', {
  description: 'What became of one record of a bulk call.',
  values: {
    CREATED: { description: 'There was none with this storeId, and now there is.' },
    UPDATED: { description: 'The record is different from what it was.' },
    UNCHANGED: { description: 'The record already stood exactly so; its updatedAt did not move.' },
    DELETED: { description: 'The record is gone, and with a product its variants.' },
    ABSENT: { description: 'There was nothing to delete.' },
    FAILED: { description: 'The record could not be written; userErrors says why.' },
    NOT_APPLIED: {
      description: 'Good in itself, not written because another record failed under REJECT_ALL.',
    },
  } satisfies Record<BulkOutcome, object>,
});

/** Outcomes after which there is a record to show. */
const STANDING: ReadonlySet<BulkOutcome> = new Set(['CREATED', 'UPDATED', 'UNCHANGED']);

const UPSERTS =
  'Records to create, or to update where the brand has one with the storeId. A field left out is null on a new ' +
  'record and stays as it is on an existing one; null clears it.';
const DELETES = 'storeIds of records to delete.';
const POLICY = 'REJECT_ALL unless told.';

const deleteList = {
  ...list(DELETES, MAX_BULK_RECORDS),
  validate: { ...list(DELETES, MAX_BULK_RECORDS).validate, items: text('', MAX_LINE).validate },
};

const BulkProductsInput = builder.inputType('BulkProductsInput', {
  description: 'One bulk call on products. It is one transaction.',
  fields: (t) => ({
    upsertRecords: t.field({
      type: [CreateProductInput],
      required: { list: false, items: true },
      ...list(UPSERTS, MAX_BULK_RECORDS),
    }),
    deleteRecords: t.stringList({ required: { list: false, items: true }, ...deleteList }),
    errorPolicy: t.field({ type: BulkErrorPolicyEnum, required: false, description: POLICY }),
  }),
});

const BulkProductVariantsInput = builder.inputType('BulkProductVariantsInput', {
  description: 'One bulk call on variants. It is one transaction.',
  fields: (t) => ({
    upsertRecords: t.field({
      type: [CreateProductVariantInput],
      required: { list: false, items: true },
      ...list(UPSERTS, MAX_BULK_RECORDS),
    }),
    deleteRecords: t.stringList({ required: { list: false, items: true }, ...deleteList }),
    errorPolicy: t.field({ type: BulkErrorPolicyEnum, required: false, description: POLICY }),
  }),
});

const RESULT = {
  storeId: 'The storeId that the record was given with.',
  outcome: 'What became of it.',
  id: 'Of the record written, found unchanged or deleted.',
  record: 'The record as it stands now; null where it was deleted or not written.',
};

const BulkProductResult = builder.objectRef<BulkResult>('BulkProductResult').implement({
  description: 'What became of one product of a bulk call.',
  fields: (t) => ({
    storeId: t.exposeString('storeId', { nullable: false, description: RESULT.storeId }),
    outcome: t.expose('outcome', {
      type: BulkOutcomeEnum,
      nullable: false,
      description: RESULT.outcome,
    }),
    productId: t.exposeID('id', { nullable: true, description: RESULT.id }),
    product: t.field({
      type: ProductRef,
      nullable: true,
      description: RESULT.record,
      resolve: ({ id, outcome }, _args, context) =>
        id && STANDING.has(outcome) ? productLoader(context).load(id) : null,
    }),
  }),
});

const BulkProductVariantResult = builder
  .objectRef<BulkResult>('BulkProductVariantResult')
  .implement({
    description: 'What became of one variant of a bulk call.',
    fields: (t) => ({
      storeId: t.exposeString('storeId', { nullable: false, description: RESULT.storeId }),
      outcome: t.expose('outcome', {
        type: BulkOutcomeEnum,
        nullable: false,
        description: RESULT.outcome,
      }),
      productVariantId: t.exposeID('id', { nullable: true, description: RESULT.id }),
      productVariant: t.field({
        type: ProductVariantRef,
        nullable: true,
        description: RESULT.record,
        resolve: ({ id, outcome }, _args, context) =>
          id && STANDING.has(outcome) ? variantLoader(context).load(id) : null,
      }),
    }),
  });

function defineBulkPayload(name: string, result: typeof BulkProductResult, about: string) {
  return builder.objectRef<BulkAnswer>(name).implement({
    description: about,
    fields: (t) => ({
      success: t.exposeBoolean('success', {
        nullable: false,
        description: 'True when every record was written, or needed nothing.',
      }),
      results: t.expose('results', {
        type: [result],
        nullable: false,
        description: 'One a record, in the order given: the upserts, then the deletes.',
      }),
      userErrors: t.expose('userErrors', {
        type: [UserErrorRef],
        nullable: false,
        description:
          'Why records are FAILED, each with the path of its record; empty when none is.',
      }),
    }),
  });
}

const BulkProductsPayload = defineBulkPayload(
  'BulkProductsPayload',
  BulkProductResult,
  'What became of bulkProducts.',
);
const BulkProductVariantsPayload = defineBulkPayload(
  'BulkProductVariantsPayload',
  BulkProductVariantResult,
  'What became of bulkProductVariants.',
);

const RULES =
  'A storeId that stands twice in the call, deletes included, is DUPLICATE on every record that has it.';

builder.mutationFields((t) => ({
  bulkProducts: t.field({
    type: BulkProductsPayload,
    nullable: true,
    description: `Creates, updates and deletes up to ${MAX_BULK_RECORDS} and ${MAX_BULK_RECORDS} products by storeId. Deleting a product deletes its variants. ${RULES}`,
    args: { input: t.arg({ type: BulkProductsInput, required: true, description: 'The call.' }) },
    resolve: (_root, { input }, context) =>
      forgetting(context, bulkProducts(context.em, context.viewer.brand, input)),
  }),
  bulkProductVariants: t.field({
    type: BulkProductVariantsPayload,
    nullable: true,
    description: `Creates, updates, moves and deletes up to ${MAX_BULK_RECORDS} and ${MAX_BULK_RECORDS} variants by storeId. An unknown productStoreId is NOT_FOUND. ${RULES}`,
    args: {
      input: t.arg({ type: BulkProductVariantsInput, required: true, description: 'The call.' }),
    },
    resolve: (_root, { input }, context) =>
      forgetting(context, bulkProductVariants(context.em, context.viewer.brand, input)),
  }),
}));

/** Forgets what the request has read, since a bulk call may have changed any of it. */
async function forgetting(context: Context, work: Promise<BulkAnswer>): Promise<BulkAnswer> {
  try {
    return await work;
  } finally {
    context.loaders.clear();
  }
}
