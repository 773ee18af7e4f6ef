import type { CreateProductInput } from '../products/service.ts';
import type { CreateVariantInput } from '../products/variant-service.ts';

/** The demo brand: a maker of outdoor gear. Its addresses are reserved for examples (RFC 2606). */
export const DEMO_BRAND = {
  name: 'Alder & Pine',
  communityUrl: 'https://community.alder-and-pine.example',
  customAuthEnabled: true,
};

const SHOP = 'https://shop.alder-and-pine.example';

/** One line a product: handle, title, description, price in euro cents, forms (blank for just one). */
const LINES: [
  handle: string,
  title: string,
  description: string,
  cents: number,
  forms: string[],
][] = [
  [
    'ridge-45',
    'Ridge 45 Backpack',
    '<p>A 45-litre pack for two or three nights out, with a lid that becomes a hip bag.</p>',
    18900,
    ['Moss', 'Slate', 'Ochre'],
  ],
  [
    'ridge-28',
    'Ridge 28 Daypack',
    '<p>The small sister of the Ridge 45, for long day walks.</p>',
    12900,
    ['Moss', 'Slate'],
  ],
  [
    'hollow-2',
    'Hollow 2 Tent',
    '<p>Two people, two porches, 1.9 kg. Pitches inner and outer at once.</p>',
    44900,
    [],
  ],
  [
    'ember-stove',
    'Ember Gas Stove',
    '<p>Boils a litre in four minutes and folds into its own pot.</p>',
    6490,
    [],
  ],
  ['ember-pot', 'Ember Pot, 1.2 l', '<p>Hard-anodised, with a lid that strains.</p>', 3990, []],
  [
    'down-0',
    'Drift Down Sleeping Bag, 0 °C',
    '<p>850-fill down from the European food industry, traced by lot.</p>',
    32900,
    ['Regular', 'Long'],
  ],
  ['mat-light', 'Drift Light Mat', '<p>480 g, R-value 4.2.</p>', 14900, ['Regular', 'Wide']],
  [
    'shell-m',
    'Gale Shell Jacket',
    '<p>Three layers, no fluorocarbons, pit zips.</p>',
    27900,
    ['XS', 'S', 'M', 'L', 'XL'],
  ],
  [
    'fleece-m',
    'Hearth Fleece',
    '<p>Recycled grid fleece that breathes uphill.</p>',
    9900,
    ['XS', 'S', 'M', 'L', 'XL'],
  ],
  [
    'socks',
    'Trail Socks',
    '<p>Merino and nylon. Guaranteed for life: send them back with holes.</p>',
    1990,
    ['36–38', '39–41', '42–44', '45–47'],
  ],
  [
    'bottle',
    'Spring Bottle, 0.75 l',
    '<p>Steel, one wall, so that it can go on a fire.</p>',
    2490,
    ['Steel', 'Black'],
  ],
  ['lamp', 'Wisp Headlamp', '<p>300 lumens, 62 g, charges by USB-C.</p>', 4990, []],
  ['knife', 'Whittle Knife', '<p>A carbon-steel blade in birch. Needs a little oil.</p>', 3490, []],
  ['gift-card', 'Gift Card', '', 5000, ['€ 50', '€ 100']],
];

/** The demo catalogue as a shop would send it: 14 products. */
export const DEMO_PRODUCTS: CreateProductInput[] = LINES.map(([handle, title, description]) => ({
  storeId: handle,
  title,
  description,
  imageUrl: `${SHOP}/images/${handle}.jpg`,
  imageWidth: 1200,
  imageHeight: 1500,
  onlineStoreUrl: `${SHOP}/products/${handle}`,
}));

/** The variants of the demo catalogue; a product that comes in one form has one. */
export const DEMO_VARIANTS: CreateVariantInput[] = LINES.flatMap(
  ([handle, , , cents, forms], productIndex) =>
    (forms.length > 0 ? forms : ['Default']).map((form, index) => ({
      storeId: `${handle}-${index + 1}`,
      productStoreId: handle,
      title: form,
      sku: `AP-${String(productIndex + 1).padStart(3, '0')}-${index + 1}`,
      position: index + 1,
      priceCents: handle === 'gift-card' ? cents * (index + 1) : cents,
      currency: 'EUR',
    })),
);
