// SPDX-License-Identifier: Apache-2.0
//
// `cxltier bench` as its users meet it: exit codes, both streams, every mode in its short form.
// Figures are not looked at: the machine that runs this is busy.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cxltier::bench {
namespace {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

class BenchVerb : public testing::Test {
 protected:
  BenchVerb() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "cxltier-bench-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    scratch_ = pattern;
  }
  ~BenchVerb() override {
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
  }
  BenchVerb(const BenchVerb&) = delete;
  BenchVerb& operator=(const BenchVerb&) = delete;

  // `before` stands in front of the command: "taskset ...", "ulimit ...;".
  [[nodiscard]] Outcome bench(const std::string& words, const std::string& before = "") const {
    const std::string run = "cd '" + scratch_ + "' && " + before + " '" CXLTIER_COMMAND "' bench " +
                            words + " >out 2>err </dev/null";
    const int status = std::system(run.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(scratch_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string scratch_;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* nobody =
    "setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs";

bool nobody_runs() {
  const std::string trial =
      std::string(nobody) + " '" CXLTIER_COMMAND "' --version >/dev/null 2>&1";
  return std::system(trial.c_str()) == 0;
}

TEST_F(BenchVerb, BadWordsAreNamedAndExitTwo) {
  const Outcome outcome = bench("sideways");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(holds(outcome.err, "cxltier: bench: unknown mode 'sideways'; known: overview"));
  EXPECT_EQ(bench("latency --nodes 999 --smoke").status, 2);
  EXPECT_EQ(bench("latency --smoke --compare /nonexistent").status, 2);
}

TEST_F(BenchVerb, HelpIsTheProgramsOwn) {
  const Outcome outcome = bench("--help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.out, "usage: cxltier bench [MODE] [OPTIONS]"));
}

TEST_F(BenchVerb, EveryModeRunsAndItsJsonHasTheSchema) {
  for (const char* const mode : {"overview", "latency", "bandwidth", "curve", "peak", "scaling",
                                 "interleave", "alloc", "move", "app", "peers"}) {
    const Outcome outcome = bench(std::string(mode) + " --smoke --json");
    ASSERT_EQ(outcome.status, 0) << mode << outcome.err;
    EXPECT_EQ(outcome.err, "") << mode;  // no progress where there is no terminal
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json.at("schema"), "cxltier-bench");
    EXPECT_EQ(json.at("version"), 1);
    EXPECT_EQ(json.at("settings").at("mode"), mode);
    EXPECT_FALSE(json.at("machine").at("nodes").empty());
    const bool may_be_empty = std::string(mode) == "interleave" || std::string(mode) == "curve";
    EXPECT_TRUE(may_be_empty || !json.at("cells").empty()) << mode;
    for (const auto& cell : json.at("cells")) {
      EXPECT_GE(cell.at("samples").size(), 3u) << cell.at("id");
      EXPECT_TRUE(cell.at("summary").contains("ci95"));
    }
  }
}

TEST_F(BenchVerb, FilesOfAllKindsAreWritten) {
  const Outcome first =
      bench("latency --smoke --json --html page.html --save profile --reference spr-e3s");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(holds(read("page.html"), "<!doctype html>"));
  EXPECT_TRUE(holds(read("profile"), "cxltier-profile 1\nmachine.cpu ") ||
              holds(read("profile"), "\nmachine.cpu "));
  EXPECT_TRUE(holds(first.err, "profile saved to profile")) << first.err;
  std::filesystem::rename(scratch_ + "/out", scratch_ + "/before.json");
  const Outcome second = bench("latency --smoke --compare before.json");
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_TRUE(holds(second.out, "compared with before.json"));
  const Outcome csv = bench("latency --smoke --csv");
  EXPECT_TRUE(holds(csv.out, "id,mode,label,quantity,unit,median"));
}

// Saved where the other commands look, and found there.
TEST_F(BenchVerb, ASavedProfileIsFoundByTopo) {
  const std::string elsewhere = "XDG_STATE_HOME=\"$PWD\"";
  const Outcome saved = bench("latency --smoke --save=own", elsewhere);
  ASSERT_EQ(saved.status, 0) << saved.err;
  std::filesystem::create_directories(scratch_ + "/cxltier");
  std::filesystem::rename(scratch_ + "/own", scratch_ + "/cxltier/machine.profile");
  const std::string topo =
      "cd '" + scratch_ + "' && " + elsewhere + " '" CXLTIER_COMMAND "' topo --json >out 2>err";
  ASSERT_EQ(std::system(topo.c_str()), 0) << read("err");
  EXPECT_EQ(read("err"), "");
  const auto json = nlohmann::json::parse(read("out"));
  EXPECT_EQ(json.at("profile").at("used"), true);
  EXPECT_EQ(json.at("profile").at("path"), scratch_ + "/cxltier/machine.profile");
}

// A minute of measuring for a file that cannot be written would be a minute lost.
TEST_F(BenchVerb, AFileThatCannotBeWrittenIsRefusedBeforeMeasuring) {
  for (const char* const word : {"--html=/nonexistent/x", "--save=/nonexistent/x", "--html=/"}) {
    const Outcome outcome = bench(std::string("curve --time 500 --rounds 500 ") + word);
    EXPECT_EQ(outcome.status, 2) << word;
    EXPECT_TRUE(holds(outcome.err, ": cannot write /")) << outcome.err;
  }
  EXPECT_EQ(bench("--reference spr-e3s --save=x").status, 2);
}

// An empty pool was a bus error once.
TEST_F(BenchVerb, AnEmptyPoolOfHugePagesIsSaid) {
  std::ifstream pool("/proc/sys/vm/nr_hugepages");
  int pages = 0;
  const bool has_pool = pool >> pages && pages > 0;
  const Outcome outcome = bench("latency --smoke --pages hugetlb");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(has_pool || holds(outcome.out, "no room for a buffer of hugetlb pages"))
      << outcome.out;
}

TEST_F(BenchVerb, WhatIsNoResultIsRefusedByName) {
  std::ofstream(scratch_ + "/cut.json") << "{\"schema\": \"cxltier-be";
  std::ofstream(scratch_ + "/list.json") << "[]";
  for (const char* const file : {"cut.json", "list.json", ".", "absent.json"}) {
    const Outcome outcome = bench(std::string("latency --smoke --compare ") + file);
    EXPECT_EQ(outcome.status, 2) << file;
    EXPECT_TRUE(holds(outcome.err, std::string("--compare: ")) && holds(outcome.err, file))
        << outcome.err;
  }
}

TEST_F(BenchVerb, AnOutputThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(bench("--reference list >/dev/full #").status, 1);
}

TEST_F(BenchVerb, AReferenceIsShownWithoutMeasuring) {
  const Outcome outcome = bench("--reference intel-snc4-eurosys24");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.out, "published: intel-snc4-eurosys24"));
  EXPECT_TRUE(holds(outcome.out, "invalid: cxl idle in data/cxl/log_d0_c1_w0_r0"));
  EXPECT_TRUE(holds(bench("--reference list").out, "amd-turin-vistara"));
}

TEST_F(BenchVerb, AContainerThatRefusesPoliciesIsSaidAndNotAFailure) {
  const Outcome outcome = bench("latency --smoke", "'" CXLTIER_REFUSE_CALLS "'");
  if (outcome.status == 77) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "idle latency, ns"));
  EXPECT_TRUE(holds(outcome.out, "where the pages are could not be asked (move_pages is refused)"))
      << outcome.out;
}

TEST_F(BenchVerb, AnOrdinaryUserWithoutCapabilitiesMeasures) {
  if (!nobody_runs()) GTEST_SKIP() << "not root, or another user can run nothing";
  std::filesystem::permissions(scratch_, std::filesystem::perms::all);
  const Outcome outcome = bench("latency --smoke --json", nobody);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "not root: prefetchers stay as they are"));
}

TEST_F(BenchVerb, OneCpuIsSaidAndNotAFailure) {
  if (std::system("taskset -c 0 true 2>/dev/null") != 0) GTEST_SKIP() << "no taskset here";
  const Outcome outcome = bench("--smoke", "taskset -c 0");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "one CPU: latency under load cannot be measured"));
}

// A run of hours that somebody ends leaves nothing that looks like a result.
TEST_F(BenchVerb, AnInterruptIsSaidAndLeavesNothing) {
  const Outcome outcome = bench("latency --smoke --rounds 1000 --time 600 --json --save=p --html h",
                                "timeout --preserve-status --signal TERM 2");
  EXPECT_EQ(outcome.status, 143) << outcome.err;  // ended by the signal, as the caller asked
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(holds(outcome.err, "cxltier: bench: interrupted before the end")) << outcome.err;
  for (const auto& file : std::filesystem::directory_iterator(scratch_)) {
    EXPECT_TRUE(file.path().filename() == "out" || file.path().filename() == "err") << file.path();
  }
}

TEST_F(BenchVerb, ALimitOnMemoryIsAnAnswerAndNeverASignal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has more addresses in use than any limit";
#endif
  for (const char* const kib : {"60000", "150000", "400000", "1000000"}) {
    const Outcome outcome = bench("--smoke", std::string("ulimit -v ") + kib + ";");
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 1 || outcome.status == 127)
        << kib << ": " << outcome.status << outcome.err;
    const bool explained = outcome.status != 1 || holds(outcome.err, "cxltier: ");
    EXPECT_TRUE(explained) << kib << outcome.err;
  }
}

TEST_F(BenchVerb, ProgressIsForTerminalsThatCanShowIt) {
  if (std::system("script --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no script(1) here";
  const auto on_terminal = [&](const std::string& before, const std::string& words) {
    const std::string run = "cd '" + scratch_ + "' && " + before +
                            " script --quiet --return --command \"'" CXLTIER_COMMAND
                            "' bench latency --smoke " +
                            words + "\" /dev/null >out 2>err";
    EXPECT_EQ(std::system(run.c_str()), 0) << read("out");
    return read("out");
  };
  const std::string back = "\r\033[K";
  EXPECT_TRUE(holds(on_terminal("TERM=xterm", ""), back));
  EXPECT_FALSE(holds(on_terminal("TERM=xterm", "--quiet"), back));
  EXPECT_FALSE(holds(on_terminal("TERM=dumb", ""), back));
}

TEST_F(BenchVerb, AFullDiskIsAFailureWithItsCause) {
  for (const char* const file : {"--html=/dev/full", "--save=/dev/full"}) {
    const Outcome outcome = bench(std::string("latency --smoke ") + file);
    EXPECT_EQ(outcome.status, 1) << file;
    EXPECT_TRUE(holds(outcome.err, "cannot write /dev/full: No space left on device"))
        << outcome.err;
    EXPECT_TRUE(holds(outcome.out, "idle latency, ns"));  // what was measured is not lost
  }
}

TEST_F(BenchVerb, AHomeThatCannotBeWrittenIsRefusedBeforeMeasuring) {
  if (!nobody_runs()) GTEST_SKIP() << "not root, or another user can run nothing";
  std::filesystem::permissions(scratch_, std::filesystem::perms::all);
  const Outcome outcome =
      bench("latency --time 500 --rounds 500 --save",
            std::string(nobody) + " env --unset=XDG_STATE_HOME HOME=/proc/nowhere");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "--save: cannot make the folder /proc/nowhere")) << outcome.err;
}

TEST_F(BenchVerb, ImpossiblePointsInAFileOfCurvesAreFlagged) {
  std::ofstream(scratch_ + "/mine.json")
      << "{\"curves\": [{\"tier\": \"cxl-local\", \"mix\": \"R\", \"threads\": 8, "
         "\"points\": [[0, 800, 48000], [500, 16.3, 900]]}]}";
  const Outcome outcome = bench("--reference mine.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "invalid: cxl idle (latency_floor): 16.3 ns is below"))
      << outcome.out;
  EXPECT_EQ(bench("--reference absent.json").status, 2);
}

}  // namespace
}  // namespace cxltier::bench
