// Loads 100,000 members through recordActivity on PostgreSQL, and measures what a page of them costs,
// of all and of a group, wherever it lies: npm run bench:members
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';

import {
  activity,
  applicationOf,
  communityOf,
  memberInput,
  postInput,
} from '../support/community.ts';
import { startBenchGateway } from './gateway.ts';
import { measure, printTimes } from './measure.ts';

const MEMBERS = 100_000;
const BATCH = 500;

const { ask, brandId, client, platform, run, stop } = await startBenchGateway();
try {
  const application = applicationOf(platform, brandId);
  const ids = await load(application);
  await run('analyze');

  const page = (args: string) =>
    `{ members(${args}) { nodes { id username email role groupIds } pageInfo { hasNextPage endCursor } } }`;
  const middle = ids[MEMBERS / 2];
  const nearEnd = ids[MEMBERS - 30];
  await measure('20 of 100,000 members, first page', () => ask(page('first: 20')));
  await measure('the same, in the middle', () => ask(page(`first: 20, after: "${middle}"`)));
  await measure('the same, at the end', () => ask(page(`first: 20, after: "${nearEnd}"`)));
  await measure('the same, the last page backwards', () => ask(page('last: 20')));

  // By SQL: putting every second member into a group through updateMember would take minutes.
  const half = await makeGroup('Every second one', 'n % 2 = 0');
  const few = await makeGroup('Ten near the end', `n > ${MEMBERS} - 100 and n % 10 = 0`);
  await run('analyze');
  const ofHalf = `groupId: "${half}"`;
  await measure('20 of a group of 50,000, first page', () => ask(page(`first: 20, ${ofHalf}`)));
  await measure('the same, in the middle', () =>
    ask(page(`first: 20, ${ofHalf}, after: "${middle}"`)),
  );
  await measure('the same, at the end', () =>
    ask(page(`first: 20, ${ofHalf}, after: "${nearEnd}"`)),
  );
  await measure('the same, the last page backwards', () => ask(page(`last: 20, ${ofHalf}`)));
  await measure('a group of 10, all near the end', () => ask(page(`first: 20, groupId: "${few}"`)));
  await measure('20 members with their groups and badges', () =>
    ask(
      '{ members(first: 20) { nodes { id groups { nodes { name brandMemberBadge { name } } } } } }',
    ),
  );
  await measure(
    'totalCount of 100,000 members',
    () => ask('{ members(first: 1) { totalCount } }'),
    20,
  );
  await measure(
    'totalCount of the group of 50,000',
    () => ask(`{ members(first: 1, ${ofHalf}) { totalCount } }`),
    20,
  );

  const post = postInput(ids[0]!);
  await application.mustRecord({ postSaved: post });
  const likes = () =>
    application.record(
      Array.from({ length: BATCH }, (_, n) =>
        activity({ postLiked: { postId: post.id, userId: ids[(n * 199) % MEMBERS]! } }),
      ),
    );
  await measure('recordActivity with 500 likes', likes, 30);
  await measure('recordActivity with 1 like', () =>
    application.record([activity({ postLiked: { postId: post.id, userId: ids[5]! } })]),
  );

  async function makeGroup(name: string, condition: string): Promise<string> {
    const { memberGroup } = await communityOf(client).createGroup({ name });
    await run(
      `insert into group_membership (brand_id, group_id, member_id, member_created_at)
       select brand_id, $2, id, created_at
       from (select *, row_number() over (order by created_at, id) as n from member where brand_id = $1) m
       where ${condition}`,
      [brandId, memberGroup.id],
    );
    return memberGroup.id;
  }
} finally {
  await stop();
}

/** Lets the members join, 500 in a call; gives their ids in the order of the list. */
async function load(application: ReturnType<typeof applicationOf>): Promise<string[]> {
  const ids: string[] = [];
  const times: number[] = [];
  const startedAt = performance.now();
  for (let first = 0; first < MEMBERS; first += BATCH) {
    const activities = Array.from({ length: BATCH }, (_, index) => {
      const n = first + index;
      const occurredAt = new Date(Date.UTC(2025, 0, 1) + n * 60_000).toISOString();
      const more = { customAuthSub: `sub-${n}`, email: `m${n}@example.com`, firstName: 'M' };
      const member = memberInput(`member-${n}-${randomUUID().slice(0, 8)}`, more);
      ids.push(member.id);
      return activity({ memberJoined: member }, { occurredAt });
    });
    const calledAt = performance.now();
    const answer = await application.record(activities);
    if (answer.recordedCount !== BATCH) throw new Error(JSON.stringify(answer));
    times.push(performance.now() - calledAt);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${MEMBERS} members loaded in ${seconds.toFixed(1)} s, ${Math.round(MEMBERS / seconds)} a second`,
  );
  printTimes('recordActivity with 500 who join', times);
  const tenth = Math.floor(times.length / 10);
  printTimes('the first tenth of these calls', times.slice(0, tenth));
  printTimes('the last tenth of these calls', times.slice(-tenth));
  return ids;
}
