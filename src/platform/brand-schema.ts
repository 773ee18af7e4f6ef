import {
  type BrandRow,
  BRANDS_KEY,
  findBrand,
  findBrandPlace,
  listBrands,
  type MagicLinkDelivery,
  updateBrand,
  type UpdateBrandInput,
} from '../brands/service.ts';
import { encodeCursor } from '../database/cursors.ts';
import { BadInputError, NotFoundError, type UserError } from '../errors.ts';
import { DESCRIPTIONS } from '../graphql/descriptions.ts';
import { id, landingUrl, MAX_LINE, refuseNull, text } from '../graphql/input.ts';
import { builder, toPayload, UserErrorRef } from './builder.ts';
import { createBrandWithKey, createKeyForBrand } from './service.ts';

const DEFAULT_PAGE_SIZE = 10;
const MAX_PAGE_SIZE = 100;

const MagicLinkDeliveryEnum = builder.enumType('MagicLinkDelivery', {
  description: 'How a magic link reaches its member.',
  values: {
    RETURNED: { description: 'createMagicLink returns the link and the brand hands it over.' },
    EMAIL: { description: 'The service mails the link to the member.' },
  } satisfies Record<MagicLinkDelivery, object>,
});

const FIELDS = {
  name: "The brand's name.",
  communityUrl: 'Where a redeemed magic link redirects to, before returnTo.',
  customAuthEnabled: 'Whether the brand signs its users in itself.',
  magicLinkDelivery: 'How its magic links reach their members.',
};

const PlatformBrandRef = builder.objectRef<BrandRow>('PlatformBrand').implement({
  description: 'A brand as its operator sees it.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: 'A UUID.' }),
    name: t.exposeString('name', { nullable: false, description: FIELDS.name }),
    communityUrl: t.exposeString('communityUrl', {
      nullable: false,
      description: FIELDS.communityUrl,
    }),
    customAuthEnabled: t.exposeBoolean('customAuthEnabled', {
      nullable: false,
      description: FIELDS.customAuthEnabled,
    }),
    magicLinkDelivery: t.expose('magicLinkDelivery', {
      type: MagicLinkDeliveryEnum,
      nullable: false,
      description: FIELDS.magicLinkDelivery,
    }),
  }),
});

interface BrandPage {
  nodes: BrandRow[];
  hasNextPage: boolean;
  hasPreviousPage: boolean;
}

const PageInfoRef = builder.objectRef<BrandPage>('PageInfo').implement({
  description: DESCRIPTIONS.pageInfoType,
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      nullable: false,
      description: DESCRIPTIONS.hasNextPage,
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      nullable: false,
      description: DESCRIPTIONS.hasPreviousPage,
    }),
    startCursor: t.string({
      nullable: true,
      description: DESCRIPTIONS.startCursor,
      resolve: ({ nodes }) => (nodes[0] ? encodeCursor(BRANDS_KEY, nodes[0]) : null),
    }),
    endCursor: t.string({
      nullable: true,
      description: DESCRIPTIONS.endCursor,
      resolve: ({ nodes }) => (nodes.length > 0 ? encodeCursor(BRANDS_KEY, nodes.at(-1)!) : null),
    }),
  }),
});

const PlatformBrandConnection = builder.objectRef<BrandPage>('PlatformBrandConnection').implement({
  description: 'A page of brands.',
  fields: (t) => ({
    nodes: t.expose('nodes', {
      type: [PlatformBrandRef],
      nullable: false,
      description: 'The brands of this page.',
    }),
    pageInfo: t.field({
      type: PageInfoRef,
      nullable: false,
      description: DESCRIPTIONS.pageInfo,
      resolve: (page) => page,
    }),
  }),
});

builder.queryFields((t) => ({
  brand: t.field({
    type: PlatformBrandRef,
    nullable: true,
    description: 'A brand. An unknown one is null, with an error NOT_FOUND.',
    args: { id: t.arg.id({ required: true, ...id('The id of the brand.') }) },
    resolve: async (_root, args, { em }) => {
      const brand = await findBrand(em, args.id);
      if (!brand) throw new NotFoundError(`There is no brand with the id ${args.id}.`);
      return brand;
    },
  }),
  brands: t.field({
    type: PlatformBrandConnection,
    nullable: false,
    description: 'All brands, the oldest first.',
    args: {
      first: t.arg.int({ required: false, description: DESCRIPTIONS.first }),
      after: t.arg.string({ required: false, description: DESCRIPTIONS.after }),
    },
    resolve: async (_root, { first, after }, { em }) => {
      const size = first ?? DEFAULT_PAGE_SIZE;
      if (size < 1 || size > MAX_PAGE_SIZE) {
        throw new BadInputError([
          { path: ['first'], message: `must be from 1 to ${MAX_PAGE_SIZE}, and is ${size}` },
        ]);
      }
      const place = typeof after === 'string' ? await findBrandPlace(em, after) : null;
      if (typeof after === 'string' && !place) {
        const message = 'must be a cursor of this list or the id of a brand';
        throw new BadInputError([{ path: ['after'], message }]);
      }
      const brands = await listBrands(em, size + 1, place);
      return {
        nodes: brands.slice(0, size),
        hasNextPage: brands.length > size,
        // The cursor is of a brand, and brands are never deleted.
        hasPreviousPage: place !== null,
      };
    },
  }),
}));

const CreateBrandInputRef = builder.inputType('CreateBrandInput', {
  description: 'A new brand.',
  fields: (t) => ({
    name: t.string({ required: true, ...text(FIELDS.name, MAX_LINE) }),
    communityUrl: t.string({ required: true, ...landingUrl(FIELDS.communityUrl) }),
    customAuthEnabled: t.boolean({
      required: false,
      description: `${FIELDS.customAuthEnabled} False unless told.`,
    }),
    magicLinkDelivery: t.field({
      type: MagicLinkDeliveryEnum,
      required: false,
      description: `${FIELDS.magicLinkDelivery} RETURNED unless told.`,
    }),
  }),
});

const UpdateBrandInputRef = builder.inputType('UpdateBrandInput', {
  description: 'What may change in a brand. A field that is left out stays.',
  validate: refuseNull('name', 'communityUrl', 'customAuthEnabled', 'magicLinkDelivery'),
  fields: (t) => ({
    id: t.id({ required: true, ...id('The id of the brand.') }),
    name: t.string({ required: false, ...text(`${FIELDS.name} Not null.`, MAX_LINE) }),
    communityUrl: t.string({ required: false, ...landingUrl(`${FIELDS.communityUrl} Not null.`) }),
    customAuthEnabled: t.boolean({
      required: false,
      description: `${FIELDS.customAuthEnabled} Not null.`,
    }),
    magicLinkDelivery: t.field({
      type: MagicLinkDeliveryEnum,
      required: false,
      description: `${FIELDS.magicLinkDelivery} Not null.`,
    }),
  }),
});

const CreatePlatformApiKeyInputRef = builder.inputType('CreatePlatformApiKeyInput', {
  description: 'Another secret key for a brand.',
  fields: (t) => ({
    brandId: t.id({ required: true, ...id('The id of the brand.') }),
    name: t.string({
      required: true,
      ...text('What the key is for, to tell it from others.', MAX_LINE),
    }),
  }),
});

interface Payload {
  brand?: BrandRow;
  token?: string;
  userErrors: UserError[];
}

const TOKEN = 'The key itself, shown this once.';
const BRAND = 'The brand as it stands now; null when the change was refused.';

const CreateBrandPayload = builder.objectRef<Payload>('CreateBrandPayload').implement({
  description: 'What became of createBrand.',
  fields: (t) => ({
    brand: t.expose('brand', { type: PlatformBrandRef, nullable: true, description: BRAND }),
    token: t.exposeString('token', { nullable: true, description: TOKEN }),
    userErrors: t.expose('userErrors', {
      type: [UserErrorRef],
      nullable: false,
      description: DESCRIPTIONS.userErrors,
    }),
  }),
});

const UpdateBrandPayload = builder.objectRef<Payload>('UpdateBrandPayload').implement({
  description: 'What became of updateBrand.',
  fields: (t) => ({
    brand: t.expose('brand', { type: PlatformBrandRef, nullable: true, description: BRAND }),
    userErrors: t.expose('userErrors', {
      type: [UserErrorRef],
      nullable: false,
      description: DESCRIPTIONS.userErrors,
    }),
  }),
});

const CreatePlatformApiKeyPayload = builder
  .objectRef<Payload>('CreatePlatformApiKeyPayload')
  .implement({
    description: 'What became of createApiKey.',
    fields: (t) => ({
      token: t.exposeString('token', { nullable: true, description: TOKEN }),
      userErrors: t.expose('userErrors', {
        type: [UserErrorRef],
        nullable: false,
        description: DESCRIPTIONS.userErrors,
      }),
    }),
  });

builder.mutationFields((t) => ({
  createBrand: t.field({
    type: CreateBrandPayload,
    nullable: true,
    description: 'Makes a brand and its first secret key, which holds every scope.',
    args: {
      input: t.arg({ type: CreateBrandInputRef, required: true, description: 'The new brand.' }),
    },
    resolve: (_root, { input }, { em }) => toPayload(() => createBrandWithKey(em, input)),
  }),
  updateBrand: t.field({
    type: UpdateBrandPayload,
    nullable: true,
    description: 'Changes a brand.',
    args: {
      input: t.arg({ type: UpdateBrandInputRef, required: true, description: 'The change.' }),
    },
    resolve: (_root, { input }, { em }) =>
      // The input type has refused null.
      toPayload(async () => ({ brand: await updateBrand(em, input as UpdateBrandInput) })),
  }),
  createApiKey: t.field({
    type: CreatePlatformApiKeyPayload,
    nullable: true,
    description: 'Another secret key with every scope, for a brand that has lost its own.',
    args: {
      input: t.arg({
        type: CreatePlatformApiKeyInputRef,
        required: true,
        description: 'The new key.',
      }),
    },
    resolve: (_root, { input }, { em }) =>
      toPayload(async () => ({ token: await createKeyForBrand(em, input) })),
  }),
}));
