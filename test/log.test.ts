import { describe, expect, it } from 'vitest';

import { LOG_SERIALIZERS } from '../src/log.ts';

describe('an error in the log', () => {
  it('is without the row that PostgreSQL tells of in its detail', () => {
    const detail = 'Failing row contains (1, mara@example.com,\n $& secret).';
    const error = new Error(`new row violates check constraint "c" - detail: ${detail}`);
    const shown = LOG_SERIALIZERS.err(
      Object.assign(error, { code: '23514', parameters: ['secret'] }),
    );
    expect(shown).toEqual({
      name: 'Error',
      code: '23514',
      message: 'new row violates check constraint "c"',
      stack: expect.stringMatching(/^Error: new row violates check constraint "c"\n +at /),
    });
    expect(JSON.stringify(shown)).not.toMatch(/mara|secret/);
  });

  it('keeps a message without a detail as it is', () => {
    const error = new Error('canceling statement due to lock timeout');
    expect(LOG_SERIALIZERS.err(error)).toMatchObject({
      message: error.message,
      stack: error.stack,
    });
  });
});
