// The agent is a setting, and the file is the active one.
import robotsTxtParser from 'robots-txt-parser';
import { serve } from '../../bases/base.mjs';

serve(
  (text, agent) => {
    const robots = robotsTxtParser({ userAgent: agent });
    robots.parseRobots('http://example.com', text);
    return robots;
  },
  (robots, _, url) => robots.canCrawlSync(url),
  { per_agent: true },
);
