/** What both interfaces say alike of what is no slice's own: paging, Relay's types, refusals. */
export const DESCRIPTIONS = {
  first:
    'How many records from the start of the list, or from `after` on: 1 to 100, 10 unless told.',
  last: 'How many records from the end of the list, or up to `before`: 1 to 100. Not together with `first`.',
  after: 'Only records behind this one: a cursor, or the id of a record.',
  before: 'Only records ahead of this one: a cursor, or the id of a record.',
  pageInfo: 'Where this page lies in its list.',
  hasNextPage: 'Whether the list goes on behind this page.',
  hasPreviousPage: 'Whether the list has records ahead of this page.',
  startCursor: 'The cursor of the first record on this page; null on an empty page.',
  endCursor:
    'The cursor of the last record on this page; null on an empty page. Give it as `after` for the next one.',
  pageInfoType: 'Where a page lies in its list.',
  nodes: 'The records of this page, for those who need no cursors.',
  edges: 'The records of this page, each with its cursor.',
  cursor: 'Marks this place in the list; good even after the record is deleted.',
  node: 'The record.',
  userErrors:
    'Why nothing was done, where the state of the data stood against it; empty on success.',
} as const;
