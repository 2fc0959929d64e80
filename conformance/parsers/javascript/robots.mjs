// It follows Python's urllib. It judges URLs.
import robots from 'robots';
import { serve } from '../../bases/base.mjs';

serve(
  (text) => {
    const parser = new robots.RobotsParser();
    parser.parse(text.split(/\r\n|\r|\n/));
    return parser;
  },
  (parser, agent, url) => parser.canFetchSync(agent, url),
);
