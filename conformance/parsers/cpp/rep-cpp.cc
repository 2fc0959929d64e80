// rep-cpp, which answers about a file that it parsed once.
#include <memory>

#include "base.hpp"
#include "robots.h"

int main() {
  conformance::serve([](const std::string& body) { return std::make_shared<Rep::Robots>(body, "http://example.com"); },
                     [](const std::shared_ptr<Rep::Robots>& robots, const std::string& agent, const std::string& url) {
                       return robots->allowed(url, agent);
                     });
}
