# Answers questions about robots.txt files with a Ruby library, by the protocol of README.md.
#
# A parser is a program that calls `serve` with two lambdas: `parse` gets the text and the agent,
# `allowed` what `parse` returned, the agent and the URL. The base times them and rescues what they raise.

require 'json'

def cpu_ns
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
end

def answer(parse, allowed, text, question, kept)
  parse_ns = ask_ns = 0
  verdicts = question['agents'].map do |agent|
    start = cpu_ns
    parsed = begin
      parse.call(text, agent)
    rescue StandardError
      nil
    end
    parse_ns += cpu_ns - start
    kept << parsed if question['keep']
    start = cpu_ns
    letters = question['urls'].map do |url|
      next 'E' if parsed.nil?

      begin
        allowed.call(parsed, agent, url) ? 'A' : 'D'
      rescue StandardError
        'E'
      end
    end
    ask_ns += cpu_ns - start
    letters.join
  end
  { verdicts: verdicts, parse_ns: parse_ns, ask_ns: ask_ns }
end

def serve(parse:, allowed:)
  out = $stdout.dup
  out.sync = true
  $stdout.reopen($stderr)
  out.puts JSON.generate(hello: 1, parses: 'per agent')
  kept = []
  while (line = $stdin.gets)
    question = JSON.parse(line)
    # Bytes that are not UTF-8 become U+FFFD.
    text = question['robots'].unpack1('m').force_encoding('UTF-8').scrub
    found = nil
    (question['repeat'] || 1).times { found = answer(parse, allowed, text, question, kept) }
    out.puts JSON.generate(found)
  end
end
