// Its parser is a package of its own. It judges paths.
import { Readable } from 'node:stream';
import parse from 'robots-txt-parse';
import guard from 'robots-txt-guard';
import { serve } from '../../bases/base.mjs';

serve(
  async (text) => guard(await parse(Readable.from([text], { objectMode: false }))),
  (robots, agent, url) => robots.isAllowed(agent, url.slice('http://example.com'.length) || '/'),
);
