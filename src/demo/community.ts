import { newId } from '../database/ids.ts';
import type { BadgeInput } from '../groups/service.ts';
import type { Activity } from '../platform/community.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The rooms of the demo's community; rooms themselves are the community application's. */
type Room = 'trails' | 'gear' | 'workshop';

/** One line a member: username, first name, last name, how many days ago they joined, role. */
const PEOPLE: [username: string, first: string, last: string, daysAgo: number, role: string][] = [
  ['linnea', 'Linnea', 'Alder', 420, 'STAFF'],
  ['tomasz', 'Tomasz', 'Nowak', 398, 'CUSTOMER'],
  ['amara', 'Amara', 'Okafor', 377, 'CUSTOMER'],
  ['jules', 'Jules', 'Moreau', 341, 'CUSTOMER'],
  ['sana', 'Sana', 'Haddad', 310, 'CUSTOMER'],
  ['ravi', 'Ravi', 'Menon', 262, 'CUSTOMER'],
  ['noor', 'Noor', 'de Vries', 215, 'CUSTOMER'],
  ['elif', 'Elif', 'Şahin', 180, 'CUSTOMER'],
  ['mateo', 'Mateo', 'Ruiz', 122, 'CUSTOMER'],
  ['hanna', 'Hanna', 'Lind', 90, 'CUSTOMER'],
  ['kofi', 'Kofi', 'Mensah', 41, 'CUSTOMER'],
  ['yuki', 'Yuki', 'Tanaka', 9, 'CUSTOMER'],
];

/** The demo's groups: the name, the badge, and the usernames of the members. */
export const DEMO_GROUPS: { name: string; badge: BadgeInput | null; usernames: string[] }[] = [
  {
    name: 'Trail Guides',
    badge: { name: 'Guide', foregroundColor: '#FFFFFF', backgroundColor: '#2F5D50' },
    usernames: ['linnea', 'amara', 'ravi'],
  },
  {
    name: 'Gear Testers',
    badge: { name: 'Tester', foregroundColor: '#1B1B1B', backgroundColor: '#E9B44C' },
    usernames: ['amara', 'jules', 'elif', 'hanna'],
  },
  { name: 'Newsletter', badge: null, usernames: ['tomasz', 'sana', 'noor', 'mateo', 'yuki'] },
];

/** One entry a post: author, room, how many days ago, title, HTML, and who likes it. */
const POSTS: {
  author: string;
  room: Room;
  daysAgo: number;
  title: string;
  html: string;
  likes: string[];
  isPinned?: boolean;
  isDraft?: boolean;
}[] = [
  {
    author: 'linnea',
    room: 'trails',
    daysAgo: 400,
    title: 'Read this first',
    html: '<p>Welcome! Say where you walk, be kind about other people’s gear, and <strong>leave no trace</strong>: in the woods and in the comments.</p>',
    likes: ['tomasz', 'amara', 'jules', 'ravi'],
    isPinned: true,
  },
  {
    author: 'tomasz',
    room: 'trails',
    daysAgo: 251,
    title: 'Three days on the Tatra ridge, with children',
    html: '<p>We took it slowly: <em>six hours a day</em>, and a hut every night.</p><ul><li>Day 1: Zakopane to Murowaniec</li><li>Day 2: over Krzyżne, snow until June</li><li>Day 3: down by the lakes</li></ul><p>The Ridge 45 carried the wet clothes of four.</p>',
    likes: ['linnea', 'noor'],
  },
  {
    author: 'amara',
    room: 'gear',
    daysAgo: 203,
    title: 'Hollow 2 after forty nights',
    html: '<p>Still dry. One peg bent (granite), one zip puller lost (dog). The porch takes two packs and a wet spaniel.</p><figure><img src="https://shop.alder-and-pine.example/images/hollow-2.jpg" alt="A green tent under larches"><figcaption>Night 37</figcaption></figure>',
    likes: ['jules', 'hanna', 'elif', 'mateo', 'ravi'],
  },
  {
    author: 'jules',
    room: 'workshop',
    daysAgo: 166,
    title: 'How to wax a cotton pack',
    html: '<ol><li>Brush it, wash it with cold water, dry it for two days.</li><li>Warm the wax until it is <b>just</b> soft.</li><li>Seams first.</li><li>Hair dryer, and patience.</li></ol>',
    likes: ['tomasz', 'sana'],
  },
  {
    author: 'ravi',
    room: 'trails',
    daysAgo: 118,
    title: 'Water on the Kungsleden in a dry August?',
    html: '<p>Between Alesjaure and Sälka, can I count on the streams? I would carry 1&nbsp;l instead of 3.</p>',
    likes: ['hanna'],
  },
  {
    author: 'elif',
    room: 'gear',
    daysAgo: 64,
    title: 'Gale Shell in a November storm',
    html: '<p>Six hours of rain at 5&nbsp;°C &amp; a wind that took my hat. Shoulders dry, cuffs not. <a href="https://shop.alder-and-pine.example/products/shell-m">This one</a>, size M.</p>',
    likes: ['amara', 'linnea', 'kofi'],
  },
  {
    author: 'hanna',
    room: 'workshop',
    daysAgo: 33,
    title: 'Darning socks: who still does it?',
    html: '<p>They are guaranteed for life, I know. I like doing it. Show me yours!</p>',
    likes: ['sana', 'noor', 'yuki', 'jules'],
  },
  {
    author: 'mateo',
    room: 'trails',
    daysAgo: 12,
    title: 'First frost on the Picos',
    html: '<p>−4&nbsp;°C at the refuge, and a sea of clouds below. The stove needed a warm pocket before it lit.</p>',
    likes: ['amara', 'kofi', 'yuki'],
  },
  {
    author: 'yuki',
    room: 'gear',
    daysAgo: 3,
    title: 'Which mat under 500 g?',
    html: '<p>For side sleepers, please. I have read <q>R-value 4.2</q> and do not know what it means for me.</p>',
    likes: ['elif'],
  },
  {
    author: 'kofi',
    room: 'workshop',
    daysAgo: 1,
    title: 'A hammock from an old tent (unfinished)',
    html: '<p>Notes to myself so far.</p>',
    likes: [],
    isDraft: true,
  },
];

/** What has happened in the demo's community until now, the oldest first, as activities. */
export function makeDemoActivities(now: Date = new Date()): Activity[] {
  const at = (daysAgo: number, hours = 0) =>
    new Date(now.getTime() - daysAgo * DAY_MS + hours * HOUR_MS).toISOString();
  const rooms: Record<Room, string> = { trails: newId(), gear: newId(), workshop: newId() };
  const people = new Map(
    PEOPLE.map(([username, , , daysAgo]) => [username, { id: newId(), daysAgo }]),
  );

  const joined = PEOPLE.map(([username, firstName, lastName, daysAgo, role]): Activity => {
    const names = { username, firstName, lastName, customAuthSub: `shop|${username}` };
    const email = `${username}@mail.example`;
    const { id } = people.get(username)!;
    const memberJoined = { id, ...names, email, isEmailVerified: true, role };
    return { id: newId(), occurredAt: at(daysAgo), what: { memberJoined } };
  });
  const posted = POSTS.map((post) => Object.assign({ id: newId() }, post));
  const saved = posted.map(({ id, daysAgo, author, room, html, ...post }): Activity => {
    const { title, isPinned = false, isDraft = false } = post;
    const [createdAt, userId] = [at(daysAgo), people.get(author)!.id];
    const place = { id, roomId: rooms[room], userId, createdAt };
    const postSaved = { ...place, title, contentHtml: html, isPinned, isPublished: !isDraft };
    return { id: newId(), occurredAt: createdAt, what: { postSaved } };
  });
  const liked = posted.flatMap(({ id: postId, daysAgo, likes }) =>
    likes.map((username, index): Activity => {
      const member = people.get(username)!;
      // Some of them joined long after it was written.
      const occurredAt = at(Math.min(daysAgo, member.daysAgo), index + 1);
      return { id: newId(), occurredAt, what: { postLiked: { postId, userId: member.id } } };
    }),
  );
  return [...joined, ...saved, ...liked].toSorted((a, b) => (a.occurredAt < b.occurredAt ? -1 : 1));
}
