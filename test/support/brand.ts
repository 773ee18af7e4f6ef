import { createClient, type GraphqlClient } from './client.ts';

/** A brand made for a test, and a client that holds its key. */
export interface TestBrand extends GraphqlClient {
  id: string;
  token: string;
}

/** Makes a brand through the platform interface. */
export async function createBrand(
  url: string,
  platform: GraphqlClient,
  name: string,
  fields: object = {},
): Promise<TestBrand> {
  const { data } = await platform.ask(
    `mutation ($input: CreateBrandInput!) {
      createBrand(input: $input) { token brand { id } userErrors { message } }
    }`,
    { input: { name, communityUrl: 'https://community.example', ...fields } },
  );
  const { token, brand } = data.createBrand as { token: string; brand: { id: string } };
  return { id: brand.id, token, ...createClient(`${url}/graphql`, token) };
}
