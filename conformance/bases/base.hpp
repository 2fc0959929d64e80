// Answers questions about robots.txt files with a C++ parser, by the protocol of README.md.
//
// A parser is a program that calls `serve`. `parse` gets the body, `allowed` what `parse` returned, the
// agent and the URL. The base times them and catches what they throw.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace conformance {

inline int64_t cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// The texts of a JSON array or of one text. The runner escapes `"` and `\` only.
inline std::vector<std::string> texts(const std::string& line, const std::string& key) {
  std::vector<std::string> found;
  size_t at = line.find("\"" + key + "\": ");
  if (at == std::string::npos) return found;
  at += key.size() + 4;
  const bool is_array = line[at] == '[';
  at += is_array;
  while (at < line.size() && line[at] != ']') {
    if (line[at++] != '"') continue;
    std::string text;
    for (; line[at] != '"'; at++) text += line[at] == '\\' ? line[++at] : line[at];
    at++;
    found.push_back(text);
    if (!is_array) break;
  }
  return found;
}

inline long number(const std::string& line, const std::string& key, long otherwise) {
  const size_t at = line.find("\"" + key + "\": ");
  return at == std::string::npos ? otherwise : std::stol(line.substr(at + key.size() + 4));
}

inline std::string decoded(const std::string& base64) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char digit : base64) {
    const size_t value = digits.find(digit);
    if (value == std::string::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return out;
}

template <typename Parse, typename Allowed>
void serve(Parse parse, Allowed allowed) {
  std::cout << "{\"hello\": 1, \"parses\": \"once\"}" << std::endl;
  std::vector<decltype(parse(std::string()))> kept;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string body = decoded(texts(line, "robots").at(0));
    const auto agents = texts(line, "agents"), urls = texts(line, "urls");
    std::string verdicts;
    int64_t parse_ns = 0, ask_ns = 0;
    for (long i = number(line, "repeat", 1); i > 0; i--) {
      verdicts.clear();
      int64_t start = cpu_ns();
      auto parsed = parse(body);
      parse_ns = cpu_ns() - start;
      start = cpu_ns();
      for (const auto& agent : agents) {
        verdicts += verdicts.empty() ? "\"" : ", \"";
        for (const auto& url : urls) {
          try {
            verdicts += allowed(parsed, agent, url) ? 'A' : 'D';
          } catch (const std::exception&) {
            verdicts += 'E';
          }
        }
        verdicts += '"';
      }
      ask_ns = cpu_ns() - start;
      if (line.find("\"keep\": true") != std::string::npos) kept.push_back(std::move(parsed));
    }
    std::cout << "{\"verdicts\": [" << verdicts << "], \"parse_ns\": " << parse_ns
              << ", \"ask_ns\": " << ask_ns << "}" << std::endl;
  }
}

}  // namespace conformance
