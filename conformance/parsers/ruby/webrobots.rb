# The gem webrobots, whose parser is of one agent. It judges paths.
require_relative '../../bases/base'
require 'webrobots'
require 'webrobots/robotstxt'
require 'uri'

SITE = URI('http://example.com')
serve(
  parse: ->(text, agent) { WebRobots::RobotsTxt::Parser.new(agent).parse!(text, SITE) },
  allowed: ->(robots, _agent, url) { robots.allow?(URI(url).request_uri) }
)
