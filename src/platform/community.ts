import { idNotFound, type UserError } from '../errors.ts';
import { type NewEvent, toEventUser, withoutPersonalData } from '../events/outbox.ts';
import type { MemberPatch } from '../members/bulk.ts';
import {
  type JoiningMember,
  type MemberRecord,
  toJoinedEvent,
  toNewMember,
} from '../members/service.ts';
import type { KnownPost, PostRecord } from '../posts/bulk.ts';

/** Something that happened in the community application. Instants are ISO 8601. */
export interface Activity {
  /** Chosen by the sender; the same id is recorded once. */
  id: string;
  occurredAt: string;
  /** Exactly one of the kinds. */
  what: { [Kind in keyof ActivityKinds]?: ActivityKinds[Kind] | null };
}

/** What is left out stays. The input has been refused where null cannot stand. */
type MemberUpdated = MemberPatch & { id: string };

/**
 * A post as it stands now. Left out, `isPinned` and `type` are false and TEXT on a new post, and
 * stay on one that is known.
 */
interface PostSaved {
  id: string;
  roomId: string;
  userId: string;
  title: string;
  contentHtml: string;
  isPinned?: boolean | null;
  type?: string | null;
  createdAt: string;
  publishedAt?: string | null;
  isPublished: boolean;
}

interface PostComment {
  postId: string;
  postCommentId: string;
  userId: string;
}

/** What each kind of activity tells. */
export interface ActivityKinds {
  memberJoined: JoiningMember;
  memberUpdated: MemberUpdated;
  memberDeleted: { id: string };
  postSaved: PostSaved;
  postDeleted: { id: string };
  postLiked: { postId: string; userId: string };
  postCommentCreated: PostComment & { plainTextContent: string };
  postCommentLiked: PostComment;
}

/** A record as it was found, and as it is after the activities played so far. */
interface Tracked<Record, Change> {
  /** Null once it is deleted. */
  now: Record | null;
  /** Whether there is a row to change or delete. */
  isStored: boolean;
  /** What to write: the change of a stored record, or null for nothing. */
  change: Change | null;
  /** Whether the stored record was deleted, though another of its id may have come since. */
  wasDeleted: boolean;
}

/** What is to be written after all activities were played. */
interface Changes {
  members: {
    deleted: string[];
    /** Deleted members, also those who joined and left among these activities. */
    forgotten: string[];
    patched: Map<string, MemberPatch>;
    inserted: MemberRecord[];
  };
  /** `added` are the ids of those saved that are new. */
  posts: { deleted: string[]; saved: PostRecord[]; added: string[] };
}

/**
 * The part of a brand's community that some activities are about, in memory: they are played on it
 * one after the other, which finds out what they change, which events they leave, and what is wrong
 * with them. After a refusal it goes on as if nothing had been, so that one mistake is told once.
 */
export class Community {
  readonly events: NewEvent[] = [];
  readonly userErrors: UserError[] = [];
  readonly #members = new Map<string, Tracked<MemberRecord, MemberPatch>>();
  readonly #posts = new Map<string, Tracked<KnownPost, PostRecord>>();
  /** Who has a username, or a customAuthSub, now. */
  readonly #usernames = new Map<string, string>();
  readonly #customAuthSubs = new Map<string, string>();
  readonly #heldIds: ReadonlySet<string>;
  /** Where the activity that is played stands in the call. */
  #place: string[] = [];

  /** `heldIds` are those of the ids of new members and posts that some record has. */
  constructor(members: MemberRecord[], posts: KnownPost[], heldIds: ReadonlySet<string>) {
    this.#heldIds = heldIds;
    for (const member of members) {
      this.#members.set(member.id, {
        now: member,
        isStored: true,
        change: null,
        wasDeleted: false,
      });
      this.#usernames.set(member.username, member.id);
      if (member.customAuthSub !== null) this.#customAuthSubs.set(member.customAuthSub, member.id);
    }
    for (const post of posts) {
      this.#posts.set(post.id, { now: post, isStored: true, change: null, wasDeleted: false });
    }
  }

  /** Plays an activity; `index` is its place in the call. */
  play(index: number, { occurredAt, what }: Activity): void {
    const [kind] = Object.entries(what).find(([, input]) => input) ?? [];
    if (kind === undefined) throw new Error('An activity must be of one kind; GraphQL sees to it.');
    this.#place = ['activities', String(index), 'what', kind];
    if (what.memberJoined) this.#join(what.memberJoined, occurredAt);
    if (what.memberUpdated) this.#updateMember(what.memberUpdated);
    if (what.memberDeleted) this.#deleteMember(what.memberDeleted.id);
    if (what.postSaved) this.#savePost(what.postSaved, occurredAt);
    if (what.postDeleted) this.#deletePost(what.postDeleted.id);
    if (what.postLiked) this.#likePost(what.postLiked, occurredAt);
    if (what.postCommentCreated) this.#comment(what.postCommentCreated, occurredAt);
    if (what.postCommentLiked) this.#likeComment(what.postCommentLiked, occurredAt);
  }

  /** What the activities played so far have changed. */
  readChanges(): Changes {
    const members = [...this.#members];
    const posts = [...this.#posts];
    return {
      members: {
        deleted: members.flatMap(([id, m]) => (m.isStored && m.wasDeleted ? [id] : [])),
        forgotten: members.flatMap(([id, m]) => (m.wasDeleted ? [id] : [])),
        patched: new Map(
          members.flatMap(([id, m]) =>
            m.isStored && !m.wasDeleted && m.change ? [[id, m.change]] : [],
          ),
        ),
        inserted: members.flatMap(([, m]) =>
          m.now && (!m.isStored || m.wasDeleted) ? [m.now] : [],
        ),
      },
      posts: {
        deleted: posts.flatMap(([id, p]) => (p.isStored && !p.now ? [id] : [])),
        saved: posts.flatMap(([, p]) => (p.now && p.change ? [p.change] : [])),
        added: posts.flatMap(([id, p]) => (p.now && !p.isStored ? [id] : [])),
      },
    };
  }

  #join(joining: JoiningMember, occurredAt: string): void {
    const member = { ...toNewMember(joining), createdAt: occurredAt };
    const { id, username, customAuthSub } = member;
    this.#refuseHeldId(id);
    this.#refuseTaken(this.#usernames, 'username', username, id);
    if (customAuthSub !== null) {
      this.#refuseTaken(this.#customAuthSubs, 'customAuthSub', customAuthSub, id);
    }
    const before = this.#members.get(id);
    this.#members.set(id, {
      now: member,
      isStored: before?.isStored ?? false,
      change: null,
      wasDeleted: before?.wasDeleted ?? false,
    });
    this.#usernames.set(username, id);
    if (customAuthSub !== null) this.#customAuthSubs.set(customAuthSub, id);
    this.events.push(toJoinedEvent(member));
  }

  #updateMember({ id, ...fields }: MemberUpdated): void {
    const tracked = this.#members.get(id);
    const member = tracked?.now;
    if (!member) return this.#refuseUnknown('member', id, 'id');
    const { username } = fields;
    if (typeof username === 'string' && username !== member.username) {
      this.#refuseTaken(this.#usernames, 'username', username, id);
      this.#usernames.delete(member.username);
      this.#usernames.set(username, id);
    }
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const changes = given.filter(([name, value]) => value !== Reflect.get(member, name));
    if (changes.length === 0) return;
    const change = Object.fromEntries(changes) as MemberPatch;
    tracked.now = { ...member, ...change };
    tracked.change = { ...tracked.change, ...change };
  }

  #deleteMember(id: string): void {
    const tracked = this.#members.get(id);
    const member = tracked?.now;
    if (!member) return this.#refuseUnknown('member', id, 'id');
    this.#members.set(id, { ...tracked, now: null, change: null, wasDeleted: true });
    this.#usernames.delete(member.username);
    if (member.customAuthSub !== null) this.#customAuthSubs.delete(member.customAuthSub);
    for (const [index, event] of this.events.entries()) {
      if (event.data.userId === id) this.events[index] = withoutPersonalData(event);
    }
  }

  #savePost(input: PostSaved, occurredAt: string): void {
    const { id, isPublished } = input;
    const before = this.#posts.get(id);
    const known = before?.now;
    if (!known) this.#refuseHeldId(id);
    // What is left out stays; null is as on a new post.
    const {
      isPinned = known?.isPinned,
      type = known?.type,
      publishedAt = known?.publishedAt,
    } = input;
    const post: PostRecord = {
      id,
      roomId: input.roomId,
      userId: input.userId,
      title: input.title,
      contentHtml: input.contentHtml,
      isPinned: isPinned ?? false,
      type: type ?? 'TEXT',
      createdAt: input.createdAt,
      publishedAt: publishedAt ?? (isPublished ? occurredAt : null),
      isPublished,
      wasPublished: isPublished || (known?.wasPublished ?? false),
    };
    const isStored = before?.isStored ?? false;
    this.#posts.set(id, { now: post, isStored, change: post, wasDeleted: false });
    if (!isPublished || known?.wasPublished) return;
    const { roomId, userId, title } = input;
    const data = { postId: id, userId, user: this.#toUser(userId), title };
    this.events.push({ type: 'post.created', occurredAt, data, roomId });
  }

  #deletePost(id: string): void {
    const tracked = this.#posts.get(id);
    if (!tracked?.now) return this.#refuseUnknown('post', id, 'id');
    this.#posts.set(id, { ...tracked, now: null, change: null, wasDeleted: true });
  }

  #likePost({ postId, userId }: ActivityKinds['postLiked'], occurredAt: string): void {
    if (!this.#findPost(postId, userId)) return;
    const data = { postId, userId, user: this.#toUser(userId) };
    this.events.push({ type: 'post.liked', occurredAt, data });
  }

  #comment(input: ActivityKinds['postCommentCreated'], occurredAt: string): void {
    const { postId, postCommentId, userId, plainTextContent } = input;
    const post = this.#findPost(postId, userId);
    if (!post) return;
    const user = this.#toUser(userId);
    const data = { postId, postTitle: post.title, postCommentId, plainTextContent, userId, user };
    this.events.push({ type: 'post_comment.created', occurredAt, data });
  }

  #likeComment({ postId, postCommentId, userId }: PostComment, occurredAt: string): void {
    const post = this.#findPost(postId, userId);
    if (!post) return;
    const user = this.#toUser(userId);
    const data = { postId, postTitle: post.title, postCommentId, userId, user };
    this.events.push({ type: 'post_comment.liked', occurredAt, data });
  }

  /** The post that a member did something to; refuses when either is unknown. */
  #findPost(postId: string, userId: string): KnownPost | null {
    const post = this.#posts.get(postId)?.now ?? null;
    if (!post) this.#refuseUnknown('post', postId, 'postId');
    if (!this.#members.get(userId)?.now) this.#refuseUnknown('member', userId, 'userId');
    return post;
  }

  #toUser(userId: string) {
    return toEventUser(userId, this.#members.get(userId)?.now);
  }

  #refuseUnknown(what: string, id: string, field: string): void {
    this.userErrors.push(idNotFound(what, id, [...this.#place, field]));
  }

  /** An id of a new record must be no record's: neither one that was there, nor one made here. */
  #refuseHeldId(id: string): void {
    const member = this.#members.get(id);
    const post = this.#posts.get(id);
    // One that is being deleted here is free again.
    const isFreed = (member?.wasDeleted || post?.wasDeleted) && !member?.now && !post?.now;
    const isHeld = member?.now || post?.now || (this.#heldIds.has(id) && !isFreed);
    if (isHeld) this.#refuse('id', `A record already has the id ${id}.`);
  }

  #refuseTaken(holders: Map<string, string>, field: string, value: string, id: string): void {
    const holder = holders.get(value);
    if (holder === undefined || holder === id) return;
    this.#refuse(field, `Another member already has the ${field} ${JSON.stringify(value)}.`);
  }

  #refuse(field: string, message: string): void {
    this.userErrors.push({ code: 'TAKEN', field: [...this.#place, field], message });
  }
}
