import type { Json } from './client.ts';

/**
 * A shop's export as shops have them: 137 products in families, with descriptions in HTML, titles
 * in several scripts, gaps in what is optional, ids of the shop's own form, and 1 to 12 variants
 * each. The same at every call.
 */
export function exportShop(): { products: Json[]; variants: Json[] } {
  const kinds = [
    'Tee',
    'Hoodie',
    'Mug',
    'Poster',
    'Notebook',
    'Cap',
    'Tote — “Büro”',
    'Socken',
    '手ぬぐい',
    'Çanta',
  ];
  const colours = ['Black', 'White', 'Écru', 'Navy', 'Grün'];
  const sizes = ['XS', 'S', 'M', 'L'];
  const products = Array.from({ length: 137 }, (_, index) => ({
    storeId: `gid://shop/Product/${8_000_000 + index * 17}`,
    title: `${kinds[index % kinds.length]} No. ${index + 1}`,
    description:
      index % 9 === 0
        ? ''
        : `<p>It's "good" &amp; made in batches of ${index}.</p>\n<ul><li>100 % cotton</li></ul>`,
    onlineStoreUrl: `https://shop.example/products/no-${index + 1}?ref=feed&x=%20`,
    ...(index % 4 !== 0 && {
      imageUrl: `https://cdn.shop.example/${index}.jpg?v=${index * 7}`,
      imageWidth: 1000 + index,
      imageHeight: 1200,
    }),
  }));
  const variants = products.flatMap((product, index) => {
    const count = 1 + ((index * 5) % 12);
    return Array.from({ length: count }, (_, position) => ({
      storeId: `${product.storeId}/Variant/${position}`,
      productStoreId: product.storeId,
      title: count === 1 ? 'Default Title' : `${colours[position % 5]} / ${sizes[position % 4]}`,
      position: position + 1,
      priceCents: 500 + index * 10,
      currency: 'EUR',
      ...(position % 3 !== 0 && {
        sku: `SKU-${index}-${position}`,
        barcode: String(4_000_000_000_000 + index),
      }),
    }));
  });
  return { products, variants };
}

/** Cuts a list into the batches that bulk calls take. */
export function inBatches<T>(records: T[], size = 100): T[][] {
  const count = Math.ceil(records.length / size);
  return Array.from({ length: count }, (_, index) =>
    records.slice(index * size, (index + 1) * size),
  );
}
