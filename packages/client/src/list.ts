// Lists as iterators: the next page is read when it is asked for.

/** The most rows that the API gives at once. */
const PAGE = 100;

/** Which rows are wanted, without where they begin and how many come at once. */
export type Filter<Query> = Omit<Query, 'limit' | 'cursor'>;

interface Page<Row> {
  data: Row[];
  has_more: boolean;
  next_cursor: string | null;
}

/** All rows, page by page. `read` reads a page with these parameters beside its own. */
export async function* allOf<Row>(
  read: (parameters: { limit: number; cursor?: string }) => Promise<Page<Row>>,
): AsyncGenerator<Row> {
  for (let cursor = {}; ; ) {
    const { data, has_more, next_cursor } = await read({ limit: PAGE, ...cursor });
    yield* data;
    if (!has_more || next_cursor === null) return;
    cursor = { cursor: next_cursor };
  }
}
