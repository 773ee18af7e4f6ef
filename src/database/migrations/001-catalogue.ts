import { Migration } from '@mikro-orm/migrations';

/**
 * Brands, their API keys, products and variants.
 *
 * A foreign key between records of a brand carries the brand, so that the database itself refuses
 * a reference into another one; `unique (brand_id, id)` is there to be its target. Indexes that
 * lists use begin with the brand and end with the key that the list is paged by.
 *
 * Instants are the clock's and not the transaction's, which may have waited for a lock since it
 * began: what is written later must not be dated before what somebody has read meanwhile.
 */
export class CatalogueMigration extends Migration {
  override up(): void {
    this.addSql(`
      create table brand (
        id uuid primary key,
        name text not null,
        community_url text not null,
        custom_auth_enabled boolean not null,
        magic_link_delivery text not null check (magic_link_delivery in ('RETURNED', 'EMAIL')),
        created_at timestamptz(3) not null default clock_timestamp(),
        updated_at timestamptz(3) not null default clock_timestamp()
      )`);
    this.addSql('create index brand_list on brand (created_at, id)');

    this.addSql(`
      create table api_key (
        id uuid primary key,
        brand_id uuid not null references brand (id) on delete cascade,
        name text not null,
        prefix text not null,
        token_hash bytea not null unique,
        scopes text[] not null,
        created_at timestamptz(3) not null default clock_timestamp(),
        expires_at timestamptz(3),
        revoked_at timestamptz(3)
      )`);
    this.addSql('create index api_key_list on api_key (brand_id, created_at, id)');

    this.addSql(`
      create table product (
        id uuid primary key,
        brand_id uuid not null references brand (id) on delete cascade,
        store_id text not null,
        title text not null,
        description text not null,
        image_url text,
        image_width integer,
        image_height integer,
        online_store_url text not null,
        created_at timestamptz(3) not null default clock_timestamp(),
        updated_at timestamptz(3) not null default clock_timestamp(),
        constraint product_store_id_unique unique (brand_id, store_id),
        constraint product_of_brand unique (brand_id, id)
      )`);
    this.addSql('create index product_list on product (brand_id, created_at, id)');
    this.addSql('create index product_updated on product (brand_id, updated_at)');

    this.addSql(`
      create table product_variant (
        id uuid primary key,
        brand_id uuid not null references brand (id) on delete cascade,
        product_id uuid not null,
        store_id text not null,
        title text not null,
        barcode text,
        sku text,
        position integer not null,
        price_cents bigint,
        currency text,
        image_url text,
        image_width integer,
        image_height integer,
        created_at timestamptz(3) not null default clock_timestamp(),
        updated_at timestamptz(3) not null default clock_timestamp(),
        constraint product_variant_store_id_unique unique (brand_id, store_id),
        constraint product_variant_of_product
          foreign key (brand_id, product_id) references product (brand_id, id) on delete cascade
      )`);
    this.addSql(
      'create index product_variant_of_product on product_variant (brand_id, product_id, position, id)',
    );
    this.addSql('create index product_variant_list on product_variant (brand_id, created_at, id)');
    this.addSql('create index product_variant_updated on product_variant (brand_id, updated_at)');
  }

  override down(): void {
    this.addSql('drop table product_variant, product, api_key, brand');
  }
}
