import { randomUUID } from 'node:crypto';

import type { GraphqlClient, Json } from './client.ts';

export const MEMBER_FIELDS =
  'id username firstName lastName email phoneNumber isEmailVerified isBanned role profilePictureUrl groupIds createdAt';
export const GROUP_FIELDS = 'id name brandMemberBadge { id name foregroundColor backgroundColor }';
export const POST_FIELDS =
  'id roomId userId title contentHtml isPinned createdAt type publishedAt isPublished';
const ERRORS = 'userErrors { code field message }';

/** An activity as recordActivity takes it, of an id of its own. */
export function activity(what: object, fields: object = {}) {
  return { id: randomUUID(), occurredAt: '2026-11-01T10:00:00.000Z', what, ...fields };
}

/** A member as memberJoined takes it, with what a test wants different. */
export function memberInput(username: string, fields: object = {}) {
  return { id: randomUUID() as string, username, ...fields };
}

/** A published post as postSaved takes it, with what a test wants different. */
export function postInput(userId: string, fields: object = {}) {
  return {
    id: randomUUID() as string,
    roomId: randomUUID() as string,
    userId,
    title: 'A post',
    contentHtml: '<p>Hello.</p>',
    createdAt: '2026-11-01T09:00:00.000Z',
    isPublished: true,
    ...fields,
  };
}

/** What the community application does, by the platform interface. */
export function applicationOf(platform: GraphqlClient, brandId: string) {
  const record = async (activities: object[], ofBrand = brandId): Promise<Json> => {
    const { data, errors } = await platform.ask(
      `mutation ($input: RecordActivityInput!) {
        recordActivity(input: $input) { recordedCount skippedCount ${ERRORS} }
      }`,
      { input: { brandId: ofBrand, activities } },
    );
    return data?.recordActivity ?? { errors };
  };
  /** Records what must be taken. */
  const mustRecord = async (...whats: object[]): Promise<void> => {
    const answer = await record(whats.map((what) => activity(what)));
    if (answer.recordedCount !== whats.length) throw new Error(JSON.stringify(answer));
  };
  return {
    record,
    mustRecord,
    /** Lets members join by their usernames, in the order given; gives their ids. */
    join: async (...usernames: string[]): Promise<string[]> => {
      const members = usernames.map((username) => memberInput(username));
      const activities = members.map((memberJoined, index) =>
        activity(
          { memberJoined },
          { occurredAt: new Date(Date.UTC(2026, 0, 1) + index).toISOString() },
        ),
      );
      const answer = await record(activities);
      if (answer.recordedCount !== members.length) throw new Error(JSON.stringify(answer));
      return members.map(({ id }) => id);
    },
    redeem: async (code: string, ofBrand = brandId): Promise<Json> => {
      const { data, errors } = await platform.ask(
        `mutation ($input: RedeemLoginCodeInput!) {
          redeemLoginCode(input: $input) {
            member { id customAuthSub username firstName lastName email phoneNumber isEmailVerified isBanned role profilePictureUrl }
            ${ERRORS}
          }
        }`,
        { input: { brandId: ofBrand, code } },
      );
      return data?.redeemLoginCode ?? { errors };
    },
    updateBrand: async (fields: object): Promise<void> => {
      const { data, errors } = await platform.ask(
        'mutation ($input: UpdateBrandInput!) { updateBrand(input: $input) { userErrors { message } } }',
        { input: { id: brandId, ...fields } },
      );
      if (errors || data.updateBrand.userErrors.length > 0)
        throw new Error('The brand was not updated.');
    },
  };
}

/** What a brand does with its community; each mutation gives its payload, or the top-level errors. */
export function communityOf(client: GraphqlClient) {
  const mutate = async (field: string, selection: string, input: object): Promise<Json> => {
    const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} ${ERRORS} } }`;
    const { data, errors } = await client.ask(query, { input });
    return data?.[field] ?? { errors };
  };
  return {
    updateMember: (input: object) => mutate('updateMember', `member { ${MEMBER_FIELDS} }`, input),
    createGroup: (input: object) =>
      mutate('createMemberGroup', `memberGroup { ${GROUP_FIELDS} }`, input),
    updateGroup: (input: object) =>
      mutate('updateMemberGroup', `memberGroup { ${GROUP_FIELDS} }`, input),
    createMagicLink: (input: object) => mutate('createMagicLink', 'userId url expiresAt', input),
    readMember: async (id: string): Promise<Json> => {
      const query = `query ($id: ID!) { member(id: $id) { ${MEMBER_FIELDS} } }`;
      return (await client.ask(query, { id })).data.member;
    },
    readPost: async (id: string): Promise<Json> => {
      const query = `query ($id: ID!) { post(id: $id) { ${POST_FIELDS} } }`;
      return (await client.ask(query, { id })).data.post;
    },
    /** Everything of the community, to show that a refusal changed nothing. */
    readAll: async (): Promise<Json> => {
      const query = `{
        members(first: 100) { totalCount nodes { ${MEMBER_FIELDS} } }
        memberGroups(first: 100) { totalCount nodes { ${GROUP_FIELDS} } }
        posts(first: 100) { totalCount nodes { ${POST_FIELDS} } }
      }`;
      return (await client.ask(query)).data;
    },
  };
}
