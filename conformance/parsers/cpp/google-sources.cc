// Google's C++ from its sources. It parses the file for each question.
#include "base.hpp"
#include "robots.h"

int main() {
  conformance::serve([](const std::string& body) { return body; },
                     [](const std::string& body, const std::string& agent, const std::string& url) {
                       return googlebot::RobotsMatcher().OneAgentAllowedByRobots(body, agent, url);
                     });
}
