import { Migration } from '@mikro-orm/migrations';

/**
 * Members, groups, posts, magic links, and the activity that feeds them with the events that it
 * leaves.
 *
 * `member_list` and `member_group_of_brand` are the targets of the memberships' foreign keys. A
 * membership repeats when its member was made, which never changes, so that one index holds the
 * members of a group in the order of their list.
 *
 * A post's author is no foreign key: the author may be deleted, or never have been known here.
 */
export class CommunityMigration extends Migration {
  override up(): void {
    this.addSql(`
      create table member (
        id uuid primary key,
        brand_id uuid not null references brand (id) on delete cascade,
        username text not null,
        custom_auth_sub text,
        first_name text,
        last_name text,
        email text,
        phone_number text,
        is_email_verified boolean not null,
        is_banned boolean not null,
        role text not null,
        profile_picture_url text,
        created_at timestamptz(3) not null default clock_timestamp(),
        updated_at timestamptz(3) not null default clock_timestamp(),
        constraint member_list unique (brand_id, created_at, id),
        constraint member_of_brand unique (brand_id, id),
        -- Deferrable, so that one statement may pass a name on from one member to another. Not the
        -- other: of two that insert one value at once, a deferrable constraint lets both go on to
        -- wait for each other, and a deadlock must end it.
        constraint member_username_unique unique (brand_id, username) deferrable,
        constraint member_custom_auth_sub_unique unique (brand_id, custom_auth_sub)
      )`);

    this.addSql(`
      create table member_group (
        id uuid primary key,
        brand_id uuid not null references brand (id) on delete cascade,
        name text not null,
        badge_id uuid unique,
        badge_name text,
        badge_foreground_color text,
        badge_background_color text,
        created_at timestamptz(3) not null default clock_timestamp(),
        updated_at timestamptz(3) not null default clock_timestamp(),
        constraint member_group_of_brand unique (brand_id, id),
        constraint member_group_badge_whole check (num_nulls(
          badge_id, badge_name, badge_foreground_color, badge_background_color) in (0, 4))
      )`);
    this.addSql('create index member_group_list on member_group (brand_id, created_at, id)');

    this.addSql(`
      create table group_membership (
        brand_id uuid not null,
        group_id uuid not null,
        member_id uuid not null,
        member_created_at timestamptz(3) not null,
        primary key (brand_id, member_id, member_created_at, group_id),
        constraint group_membership_of_member
          foreign key (brand_id, member_created_at, member_id)
          references member (brand_id, created_at, id) on delete cascade,
        constraint group_membership_of_group
          foreign key (brand_id, group_id) references member_group (brand_id, id) on delete cascade
      )`);
    this.addSql(
      'create index group_membership_list on group_membership (brand_id, group_id, member_created_at, member_id)',
    );

    this.addSql(`
      create table post (
        id uuid primary key,
        brand_id uuid not null references brand (id) on delete cascade,
        room_id uuid not null,
        user_id uuid not null,
        title text not null,
        content_html text not null,
        is_pinned boolean not null,
        type text not null,
        is_published boolean not null,
        published_at timestamptz(3),
        -- Whether it ever was published: post.created is recorded the first time only.
        was_published boolean not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null default clock_timestamp(),
        constraint post_of_brand unique (brand_id, id)
      )`);
    this.addSql('create index post_list on post (brand_id, created_at, id)');
    this.addSql('create index post_of_room on post (brand_id, room_id, created_at, id)');

    this.addSql(`
      create table magic_link (
        id uuid primary key,
        brand_id uuid not null,
        member_id uuid not null,
        token_hash bytea not null unique,
        state text,
        return_to text,
        created_at timestamptz(3) not null default clock_timestamp(),
        expires_at timestamptz(3) not null,
        spent_at timestamptz(3),
        code_hash bytea unique,
        code_expires_at timestamptz(3),
        redeemed_at timestamptz(3),
        constraint magic_link_of_member
          foreign key (brand_id, member_id) references member (brand_id, id) on delete cascade
      )`);
    this.addSql('create index magic_link_of_member on magic_link (brand_id, member_id)');
    this.addSql('create index magic_link_expiry on magic_link (brand_id, expires_at)');

    // The ids that the community application has chosen, of members and posts alike.
    this.addSql('create table chosen_id (id uuid primary key)');

    this.addSql(`
      create table activity (
        brand_id uuid not null references brand (id) on delete cascade,
        id uuid not null,
        recorded_at timestamptz(3) not null default clock_timestamp(),
        primary key (brand_id, id)
      )`);

    this.addSql(`
      create table outbox (
        sequence bigint generated always as identity primary key,
        event_id uuid not null unique,
        brand_id uuid not null references brand (id) on delete cascade,
        type text not null,
        occurred_at timestamptz(3) not null,
        -- The member whose personal data stands in the event's data.
        user_id uuid not null,
        -- The room of a post, by which post.created can be asked for.
        room_id uuid,
        data jsonb not null
      )`);
    this.addSql('create index outbox_of_brand on outbox (brand_id)');
  }

  override down(): void {
    this.addSql(
      'drop table outbox, activity, chosen_id, magic_link, post, group_membership, member_group, member',
    );
  }
}
