// What a page costs in a catalogue of 100,000 products and 300,000 variants on PostgreSQL, at the
// start of the list, in its middle and at its end: npm run bench:paging
import { startBenchGateway } from './gateway.ts';
import { measure } from './measure.ts';

const PRODUCTS = 100_000;

const { ask, brandId, run, stop } = await startBenchGateway();
try {
  await fill();
  const page = (args: string) =>
    `{ products(${args}) { nodes { id title variants(first: 5) { nodes { id title priceCents } } } pageInfo { hasNextPage endCursor } } }`;
  const middle = await cursorOf(PRODUCTS / 2);
  const last = await cursorOf(PRODUCTS - 30);
  const recent = new Date(Date.now() - 60_000).toISOString();
  await touch();
  await measure('20 products with their variants, first page', () => ask(page('first: 20')));
  await measure('the same, in the middle', () => ask(page(`first: 20, after: "${middle}"`)));
  await measure('the same, at the end', () => ask(page(`first: 20, after: "${last}"`)));
  await measure('the same, the last page backwards', () => ask(page('last: 20')));
  await measure('updatedAfter, 11 of 100,000 match, near the end', () =>
    ask(page(`first: 20, updatedAfter: "${recent}"`)),
  );
  await measure('one product by storeId', () => ask('{ product(storeId: "p77777") { id title } }'));
  await measure(
    'totalCount of 100,000 products',
    () => ask('{ products(first: 1) { totalCount } }'),
    20,
  );
  await measure(
    'totalCount of 300,000 variants',
    () => ask('{ productVariants(first: 1) { totalCount } }'),
    20,
  );
} finally {
  await stop();
}

/** Fills the tables by SQL, a thousand products an instant; through the interface it would take minutes. */
async function fill(): Promise<void> {
  await run(
    `insert into product (id, brand_id, store_id, title, description, online_store_url, created_at, updated_at)
     select gen_random_uuid(), $1, 'p' || n, 'Product ' || n, repeat('x', 300), 'https://shop.example/' || n, at, at
     from generate_series(1, ${PRODUCTS}) n, lateral (select '2026-01-01'::timestamptz + (n / 1000) * interval '1 hour') a (at)`,
    [brandId],
  );
  await run(
    `insert into product_variant (id, brand_id, product_id, store_id, title, position, price_cents, currency, created_at, updated_at)
     select gen_random_uuid(), p.brand_id, p.id, p.store_id || '-' || n, 'Variant ' || n, n, 1990, 'EUR', p.created_at, p.created_at
     from product p, generate_series(1, 3) n where p.brand_id = $1`,
    [brandId],
  );
  await run('analyze');
}

/** Eleven products in the last tenth of the list that have just changed. */
async function touch(): Promise<void> {
  await run(
    `update product set updated_at = now() where brand_id = $1 and store_id like 'p9%999'`,
    [brandId],
  );
}

async function cursorOf(offset: number): Promise<string> {
  const rows = await run(
    'select id from product where brand_id = $1 order by created_at, id offset $2 limit 1',
    [brandId, offset],
  );
  return rows[0].id as string;
}
