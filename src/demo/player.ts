import { randomInt } from 'node:crypto';

import { newId } from '../database/ids.ts';
import { inventUsername } from '../members/usernames.ts';
import type { Activity, ActivityKinds } from '../platform/community.ts';

/** How many members, posts and comments it remembers of each, the latest. */
const MEMORY = 200;

const TITLES = [
  'First snow on the ridge',
  'Which stove for two?',
  'A quiet week in the hut',
  'Blisters, again',
  'Lost a peg, found a lake',
  'Sunrise at 3,000 metres',
  'What do you cook on day five?',
  'My pack, weighed',
];
const TEXTS = [
  'We were up before the birds, and it was worth it.',
  'Has anybody tried it in the rain?',
  'I would do it again tomorrow.',
  'It held, though I did not trust it at first.',
  'Tell me what I have forgotten.',
];
const COMMENTS = [
  'Lovely!',
  'Where is that?',
  'The same here.',
  'Thank you for this.',
  'Take socks.',
];

/** How often each kind comes, out of a hundred. */
const WEIGHTS: [kind: Kind, weight: number][] = [
  ['memberJoined', 8],
  ['postSaved', 12],
  ['postLiked', 45],
  ['postCommentCreated', 25],
  ['postCommentLiked', 10],
];

type Kind = keyof Pick<
  ActivityKinds,
  'memberJoined' | 'postSaved' | 'postLiked' | 'postCommentCreated' | 'postCommentLiked'
>;

const NAMES: Record<Kind, string> = {
  memberJoined: 'joined',
  postSaved: 'posted',
  postLiked: 'liked a post',
  postCommentCreated: 'commented',
  postCommentLiked: 'liked a comment',
};

/** Makes up what goes on in a community, among members of its own making. */
export class Player {
  readonly #memberIds: string[] = [];
  readonly #postIds: string[] = [];
  readonly #comments: { postId: string; postCommentId: string }[] = [];

  /** Something that happens now. */
  invent(): Activity {
    return { id: newId(), occurredAt: new Date().toISOString(), what: this.#inventKind() };
  }

  #inventKind(): Activity['what'] {
    const kind = this.#pickKind();
    if (kind === 'memberJoined' || this.#memberIds.length === 0) return this.#join();
    const userId = pick(this.#memberIds);
    if (kind === 'postSaved' || this.#postIds.length === 0) return this.#post(userId);
    if (kind === 'postLiked') return { postLiked: { postId: pick(this.#postIds), userId } };
    if (kind === 'postCommentCreated' || this.#comments.length === 0) return this.#comment(userId);
    return { postCommentLiked: { ...pick(this.#comments), userId } };
  }

  #pickKind(): Kind {
    let rest = randomInt(100);
    for (const [kind, weight] of WEIGHTS) {
      rest -= weight;
      if (rest < 0) return kind;
    }
    return 'postLiked';
  }

  #join(): Activity['what'] {
    const id = newId();
    // Several of these may run at once, so that the words alone might repeat.
    const username = `${inventUsername()}-${id.slice(-6)}`;
    remember(this.#memberIds, id);
    return { memberJoined: { id, username, email: `${username}@mail.example` } };
  }

  #post(userId: string): Activity['what'] {
    const id = newId();
    const createdAt = new Date().toISOString();
    const contentHtml = `<p>${pick(TEXTS)}</p><p>${pick(TEXTS)}</p>`;
    const roomId = ROOM_ID;
    remember(this.#postIds, id);
    const title = pick(TITLES);
    return { postSaved: { id, roomId, userId, title, contentHtml, createdAt, isPublished: true } };
  }

  #comment(userId: string): Activity['what'] {
    const comment = { postId: pick(this.#postIds), postCommentId: newId() };
    remember(this.#comments, comment);
    return { postCommentCreated: { ...comment, userId, plainTextContent: pick(COMMENTS) } };
  }
}

/** What some activities were, as in "1 joined, 3 liked a post". */
export function describe(activities: readonly Activity[]): string {
  return WEIGHTS.flatMap(([kind]) => {
    const count = activities.filter(({ what }) => what[kind]).length;
    return count > 0 ? [`${count} ${NAMES[kind]}`] : [];
  }).join(', ');
}

/** The room that all its posts stand in. */
const ROOM_ID = newId();

function pick<Item>(items: readonly Item[]): Item {
  return items[randomInt(items.length)]!;
}

function remember<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > MEMORY) items.shift();
}
