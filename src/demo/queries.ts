/** The query that GraphiQL opens with; it answers as it stands for any brand. */
export const EXAMPLE_QUERY = `# Run it with the round button, or with Ctrl-Enter.
# Your key goes into Headers, below.
query FirstLook {
  brand {
    name
  }
  products(first: 5) {
    nodes {
      id
      storeId
      title
      variants(first: 3) {
        nodes {
          title
          priceCents
          currency
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  posts(first: 3) {
    nodes {
      id
      title
      createdAt
      user {
        username
        groups {
          nodes {
            name
          }
        }
      }
    }
  }
}
`;

/** The same for the platform interface. */
export const EXAMPLE_PLATFORM_QUERY = `# The platform key goes into Headers, below.
query Brands {
  brands(first: 10) {
    nodes {
      id
      name
      communityUrl
    }
  }
}
`;
