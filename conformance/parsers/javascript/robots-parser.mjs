// It is bound to the origin of the robots.txt, and answers undefined for others.
import robotsParser from 'robots-parser';
import { serve } from '../../bases/base.mjs';

serve(
  (text) => robotsParser('http://example.com/robots.txt', text),
  (robots, agent, url) => robots.isAllowed(url, agent),
);
