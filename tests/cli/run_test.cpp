// SPDX-License-Identifier: Apache-2.0
//
// `cxltier run`: which words stop it and how they are named, what reaches the program, and that a
// program which cannot be helped runs all the same.
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/cli/command.h"

namespace cxltier {
namespace {

using RunVerb = Command;

TEST_F(RunVerb, AWrongWordIsNamedWithTheKnownOnesAndTheProgramDoesNotStart) {
  const struct {
    const char* options;
    const char* said;
  } cases[] = {
      {"--policy turbo",
       "--policy turbo: unknown policy 'turbo'; known: first-touch, hot-cold, "
       "balance, capacity"},
      {"--limit hbm=1G", "unknown tier 'hbm'; known: dram, cxl, tier0 to tier7"},
      {"--limit dram=1Q", "not a size: '1Q'"},
      {"--limit dram", "not a limit: 'dram'; a limit is TIER=SIZE"},
      {"--start soon", "not a size: 'soon'"},
      {"--log loud", "unknown log level 'loud'; known: off, errors, all"},
      {"--tiers fast", "not a node: 'fast'"},
      {"--tiers 1022", "'1022'"},
      {"--polcy hot-cold", "unknown option '--polcy'"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = shell(std::string("$cxltier run ") + c.options + " -- echo started");
    EXPECT_EQ(outcome.status, 2) << c.options;
    EXPECT_TRUE(holds(outcome.err, c.said)) << c.options << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << c.options;
  }
}

TEST_F(RunVerb, WithoutACommandItIsAUsageError) {
  EXPECT_EQ(shell("$cxltier run").status, 2);
  EXPECT_EQ(shell("$cxltier run --policy hot-cold --").status, 2);
  EXPECT_EQ(shell("$cxltier run --policy").status, 2);
}

TEST_F(RunVerb, HelpIsDataAndNamesTheOptions) {
  const Outcome outcome = shell("$cxltier run --help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* option : {"--policy", "--limit", "--tiers", "--start", "--log", "COMMAND"}) {
    EXPECT_TRUE(holds(outcome.out, option)) << option;
  }
}

TEST_F(RunVerb, TheSettingsReachTheProgram) {
  const Outcome outcome = shell(
      "$cxltier run --policy first-touch --limit dram=64M --limit tier0=1G,tier1=4096 "
      "--start 1M --log off --tiers 0 -- env");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* line :
       {"CXLTIER_POLICY=first-touch\n", "CXLTIER_LIMIT=dram=67108864,tier0=1073741824,tier1=4096\n",
        "CXLTIER_START=1048576\n", "CXLTIER_LOG=off\n", "CXLTIER_TIERS=0\n",
        "LD_PRELOAD=" CXLTIER_FAKE_PRELOAD "\n"}) {
    EXPECT_TRUE(holds(outcome.out, line)) << line << outcome.out;
  }
}

TEST_F(RunVerb, DefaultsAreWrittenOutAndWhatIsUnsetStaysUnset) {
  const Outcome outcome = shell("$cxltier run env");
  EXPECT_TRUE(holds(outcome.out, "CXLTIER_POLICY=hot-cold\n"));
  EXPECT_TRUE(holds(outcome.out, "CXLTIER_START=8388608\n"));
  EXPECT_FALSE(holds(outcome.out, "CXLTIER_LIMIT"));
  EXPECT_FALSE(holds(outcome.out, "CXLTIER_TIERS"));
}

TEST_F(RunVerb, TheCommandLineOverridesTheEnvironment) {
  const Outcome outcome = shell(
      "export CXLTIER_POLICY=first-touch CXLTIER_LIMIT=dram=1M,tier0=2M CXLTIER_LOG=all\n"
      "$cxltier run --limit dram=4M --log errors env");
  EXPECT_TRUE(holds(outcome.out, "CXLTIER_POLICY=first-touch\n"));
  EXPECT_TRUE(holds(outcome.out, "CXLTIER_LIMIT=dram=4194304,tier0=2097152\n"));
  EXPECT_TRUE(holds(outcome.out, "CXLTIER_LOG=errors\n"));
}

TEST_F(RunVerb, AWrongVariableIsOneLineAndTheDefault) {
  const Outcome outcome = shell("export CXLTIER_POLICY=turbo\n$cxltier run env");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.err,
                    "cxltier: CXLTIER_POLICY=turbo: unknown policy 'turbo'; known: first-touch, "
                    "hot-cold, balance, capacity; using hot-cold\n"))
      << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "CXLTIER_POLICY=hot-cold\n"));

  const Outcome overridden =
      shell("export CXLTIER_POLICY=turbo\n$cxltier run --policy first-touch env");
  EXPECT_FALSE(holds(overridden.err, "turbo"));
}

TEST_F(RunVerb, ArgumentsAndExitStatusAreTheProgramsOwn) {
  const Outcome marked = shell("$cxltier run -- bash -c 'echo \"$@\"; exit 7' x --policy -- -h y");
  EXPECT_EQ(marked.out, "--policy -- -h y\n");
  EXPECT_EQ(marked.status, 7);
  const Outcome bare = shell("$cxltier run bash -c 'echo \"$@\"; exit 7' x --policy -- -h y");
  EXPECT_EQ(bare.out, "--policy -- -h y\n");
  EXPECT_EQ(bare.status, 7);
}

TEST_F(RunVerb, ArgumentsArriveAsTheyWere) {
  const Outcome outcome =
      shell("$cxltier run --log off -- printf '<%s>' '[a,b]' '' '{}' '%%' 'a b' -- --log");
  EXPECT_EQ(outcome.out, "<[a,b]><><{}><%%><a b><--><--log>") << outcome.err;
}

TEST_F(RunVerb, APreloadThatIsThereStaysBehindOursAndOursIsNotRepeated) {
  const Outcome outcome =
      shell("LD_PRELOAD=libm.so.6 $cxltier run $cxltier run bash -c 'echo $LD_PRELOAD'");
  EXPECT_EQ(outcome.out, CXLTIER_FAKE_PRELOAD ":libm.so.6\n");
}

TEST_F(RunVerb, AProgramThatIsNotThereIs127AndOneThatCannotRunIs126) {
  const Outcome absent = shell("$cxltier run -- no-such-program-here");
  EXPECT_EQ(absent.status, 127);
  EXPECT_TRUE(holds(absent.err, "'no-such-program-here': No such file")) << absent.err;
  EXPECT_EQ(shell("$cxltier run -- ./no/such/path").status, 127);
  const Outcome folder = shell("$cxltier run -- /");
  EXPECT_EQ(folder.status, 126);
  EXPECT_TRUE(holds(folder.err, "'/': is a folder")) << folder.err;
  EXPECT_TRUE(holds(shell("$cxltier run -- ''").err, "'': No such file"));
  const Outcome plain = shell("$cxltier run -- $scratch/script");
  EXPECT_EQ(plain.status, 126);
  EXPECT_TRUE(holds(plain.err, "/script': Permission denied")) << plain.err;
}

TEST_F(RunVerb, AScriptWithoutAFirstLineRunsInTheShell) {
  write("plain", "echo from the shell: $1\n");
  const Outcome outcome = shell("chmod +x $scratch/plain\n$cxltier run $scratch/plain word");
  EXPECT_EQ(outcome.out, "from the shell: word\n") << outcome.err;
}

TEST_F(RunVerb, AScriptWhoseInterpreterIsAbsentIsNotSaidToBeAbsentItself) {
  write("broken", "#!/no/such/interpreter\n");
  const Outcome outcome = shell("chmod +x $scratch/broken\n$cxltier run $scratch/broken");
  EXPECT_EQ(outcome.status, 127);
  EXPECT_TRUE(holds(outcome.err, "is there, but the interpreter")) << outcome.err;
}

TEST_F(RunVerb, ALoopOfLinksIsNamedAsOne) {
  const Outcome outcome = shell("ln -s loop $scratch/loop\n$cxltier run $scratch/loop");
  EXPECT_EQ(outcome.status, 126);
  EXPECT_TRUE(holds(outcome.err, "Too many levels of symbolic links")) << outcome.err;
}

TEST_F(RunVerb, OfAnOptionThatIsGivenTwiceTheLastCounts) {
  const Outcome outcome =
      shell("$cxltier run --log off --log errors -- bash -c 'echo $CXLTIER_LOG'");
  EXPECT_EQ(outcome.out, "errors\n") << outcome.err;
}

TEST_F(RunVerb, TheHelpOfAVerbNamesTheCommand) {
  EXPECT_TRUE(holds(shell("$cxltier run --help").out, "Usage: cxltier run "));
}

TEST_F(RunVerb, AStaticProgramRunsUntouchedAndThisIsSaid) {
  const Outcome outcome = shell("$cxltier run $static");
  EXPECT_EQ(outcome.status, 5);
  EXPECT_TRUE(holds(outcome.err, "is statically linked: the program runs untouched"))
      << outcome.err;
  EXPECT_FALSE(holds(shell("$cxltier run true").err, "statically"));
}

TEST_F(RunVerb, AScriptIsFollowedToItsInterpreter) {
  write("script-of-static", "#! " CXLTIER_STATIC_PROGRAM " option\n");
  write("script-of-script", "#!" + scratch_ + "/script-of-static\n");
  for (const char* name : {"script-of-static", "script-of-script"}) {
    const std::string path = std::string("$scratch/") + name;
    const Outcome outcome = shell("chmod +x $scratch/script-of*\n$cxltier run " + path);
    EXPECT_EQ(outcome.status, 5) << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "cli_static_program, which is statically linked"))
        << outcome.err;
  }
}

TEST_F(RunVerb, ASetUserIdProgramRunsUntouchedAndThisIsSaid) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  if (shell("setpriv --reuid=1 --clear-groups true").status != 0) {
    GTEST_SKIP() << "another user can run no program here (is / closed to others?)";
  }
  const Outcome outcome = shell(
      "cp \"$(type -P true)\" $scratch/suid\nchown 1 $scratch/suid\nchmod 4755 $scratch/suid\n"
      "$cxltier run $scratch/suid");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.err, "gains privileges")) << outcome.err;
}

TEST_F(RunVerb, AMissingLibraryIsALineThatNamesThePlaceAndTheProgramRuns) {
  const Outcome outcome =
      shell("CXLTIER_PRELOAD_PATH=$scratch/absent.so $cxltier run echo started");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "started\n");
  EXPECT_TRUE(holds(outcome.err, "/absent.so: the program runs untouched")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "CXLTIER_PRELOAD_PATH")) << outcome.err;
}

TEST_F(RunVerb, ALibraryThatTheLoaderWouldDieOfIsNotPreloaded) {
  const Outcome cut = shell("head -c 4096 " CXLTIER_FAKE_PRELOAD
                            " >$scratch/cut.so\n"
                            "CXLTIER_PRELOAD_PATH=$scratch/cut.so $cxltier run echo started");
  EXPECT_EQ(cut.status, 0);
  EXPECT_EQ(cut.out, "started\n");
  EXPECT_TRUE(holds(cut.err, "/cut.so is cut short: the program runs untouched")) << cut.err;
  const Outcome other =
      shell("CXLTIER_PRELOAD_PATH=$scratch/script $cxltier run bash -c 'echo \"<$LD_PRELOAD>\"'");
  EXPECT_EQ(other.out, "<>\n");
  EXPECT_TRUE(holds(other.err, "/script is not a shared library")) << other.err;
}

TEST_F(RunVerb, AProgramMayBeNamedLikeAnOption) {
  const Outcome outcome = shell("$cxltier run -- --policy");
  EXPECT_EQ(outcome.status, 127);
  EXPECT_TRUE(holds(outcome.err, "'--policy': No such file")) << outcome.err;
}

TEST_F(RunVerb, WordsThatATerminalWouldObeyAreSpelledOut) {
  const Outcome outcome = shell("$cxltier run --policy $'\\e[2J' -- true");
  EXPECT_TRUE(holds(outcome.err, "unknown policy '\\x1b[2J'")) << outcome.err;
}

TEST_F(RunVerb, HelpIsAVerbToo) {
  EXPECT_EQ(shell("$cxltier help").out, shell("$cxltier --help").out);
  EXPECT_EQ(shell("$cxltier help run").out, shell("$cxltier run --help").out);
}

TEST_F(RunVerb, ALimitForATierThatIsNotHereIsALineAndTheProgramRuns) {
  const Outcome outcome = shell("$cxltier run --tiers 0 --limit tier7=1M -- echo started");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "started\n");
  EXPECT_TRUE(holds(outcome.err, "no tier 'tier7'")) << outcome.err;
}

TEST_F(RunVerb, ASingleTierIsSaid) {
  const Outcome outcome = shell("$cxltier run --tiers 0 -- echo started");
  EXPECT_EQ(outcome.out, "started\n");
  EXPECT_EQ(outcome.err, "cxltier: one memory tier only (node 0): the program runs untouched\n");
  EXPECT_EQ(shell("$cxltier run --tiers 0 --log off -- echo started").err, "");
  const Outcome absent = shell("$cxltier run --tiers 0 -- no-such-program-here");
  EXPECT_FALSE(holds(absent.err, "one memory tier")) << absent.err;
}

}  // namespace
}  // namespace cxltier
