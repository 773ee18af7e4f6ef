import { Migration } from '@mikro-orm/migrations';

/**
 * The event log. A brand's events are numbered without gaps by the counter in `event_log`; the
 * partitions, by the day on which events entered the log, are made and dropped as time goes on.
 *
 * A partitioned table can hold no uniqueness over all its partitions: that a position is given
 * once is the counter's doing. `cursor_key` signs the cursors of the brand's log.
 */
export class EventLogMigration extends Migration {
  override up(): void {
    this.addSql(`
      create table event_log (
        brand_id uuid primary key references brand (id) on delete cascade,
        last_position bigint not null default 0,
        -- 244 random bits, hashed.
        cursor_key bytea not null default
          sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
      )`);
    this.addSql('insert into event_log (brand_id) select id from brand');

    this.addSql(`
      create table event (
        brand_id uuid not null,
        position bigint not null,
        id uuid not null,
        type text not null,
        -- When it happened, and when it entered the log.
        occurred_at timestamptz(3) not null,
        logged_at timestamptz(3) not null,
        -- The member whose personal data stands in the event's data.
        user_id uuid not null,
        -- The room of a post, by which post.created can be asked for.
        room_id uuid,
        data jsonb not null
      ) partition by range (logged_at)`);
    this.addSql('create index event_position on event (brand_id, position)');
    this.addSql('create index event_position_by_type on event (brand_id, type, position)');
    // Without the brand: an id that is chosen for a new record is looked for among those of all.
    this.addSql('create index event_id on event (id)');
    this.addSql('create index event_of_member on event (brand_id, user_id, position)');

    this.addSql(`
      create table forgotten_member (
        brand_id uuid not null references brand (id) on delete cascade,
        user_id uuid not null,
        -- The last event of whom nothing personal may be left.
        until_position bigint not null,
        primary key (brand_id, user_id)
      )`);
  }

  override down(): void {
    this.addSql('drop table forgotten_member, event, event_log');
  }
}
