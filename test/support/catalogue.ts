import type { GraphqlClient, Json } from './client.ts';

/** A product as createProduct takes it, with what a test wants different. */
export function productInput(storeId: string, fields: object = {}) {
  return {
    storeId,
    title: `Product ${storeId}`,
    description: '<p>Good.</p>',
    onlineStoreUrl: `https://shop.example/products/${encodeURIComponent(storeId)}`,
    ...fields,
  };
}

/** A variant as createProductVariant takes it, with what a test wants different. */
export function variantInput(storeId: string, productStoreId: string, fields: object = {}) {
  return { storeId, productStoreId, title: `Variant ${storeId}`, position: 1, ...fields };
}

export const PRODUCT_FIELDS =
  'id storeId title description imageUrl imageWidth imageHeight onlineStoreUrl createdAt updatedAt';
export const VARIANT_FIELDS =
  'id storeId productStoreId productId title barcode sku position priceCents currency imageUrl imageWidth imageHeight createdAt updatedAt';

const ERRORS = 'userErrors { code field message }';

/** The mutations of the catalogue; each gives its payload, or the top-level errors where it has none. */
export function catalogueOf(client: GraphqlClient) {
  const mutate = async (
    field: string,
    type: string,
    selection: string,
    input: object,
  ): Promise<Json> => {
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} } }`;
    const { data, errors } = await client.ask(query, { input });
    return data?.[field] ?? { errors };
  };
  const product = `product { ${PRODUCT_FIELDS} } ${ERRORS}`;
  const variant = `productVariant { ${VARIANT_FIELDS} } ${ERRORS}`;
  return {
    createProduct: (input: object) => mutate('createProduct', 'CreateProductInput', product, input),
    updateProduct: (input: object) => mutate('updateProduct', 'UpdateProductInput', product, input),
    createVariant: (input: object) =>
      mutate('createProductVariant', 'CreateProductVariantInput', variant, input),
    updateVariant: (input: object) =>
      mutate('updateProductVariant', 'UpdateProductVariantInput', variant, input),
    bulkProducts: (input: object) =>
      mutate(
        'bulkProducts',
        'BulkProductsInput',
        `success results { storeId outcome productId product { ${PRODUCT_FIELDS} } } ${ERRORS}`,
        input,
      ),
    bulkVariants: (input: object) =>
      mutate(
        'bulkProductVariants',
        'BulkProductVariantsInput',
        `success results { storeId outcome productVariantId productVariant { ${VARIANT_FIELDS} } } ${ERRORS}`,
        input,
      ),
    /** Everything of the catalogue, to show that a refusal changed nothing. */
    readAll: async (): Promise<Json> => {
      const query = `{
        products(first: 100) { totalCount nodes { ${PRODUCT_FIELDS} } }
        productVariants(first: 100) { totalCount nodes { ${VARIANT_FIELDS} } }
      }`;
      return (await client.ask(query)).data;
    },
  };
}
