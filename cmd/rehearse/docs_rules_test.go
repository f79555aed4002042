package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// rule says which test runs a command of a document, or why none does.
type rule struct {
	// commands matches page:command.
	commands string
	// test is the file and the name of the test, or a file and a text in it that runs the command.
	test   string
	reason string
	used   bool
}

type ruleList []*rule

// of returns the first rule for a command, or nil.
func (all ruleList) of(d pageCommand) *rule {
	i := slices.IndexFunc(all, func(r *rule) bool {
		return regexp.MustCompile("^(?:" + r.commands + ")$").MatchString(d.page + ":" + d.text)
	})
	if i < 0 {
		return nil
	}
	all[i].used = true
	return all[i]
}

// verify checks that each rule is of a command, and that the tests exist.
func (all ruleList) verify(t *testing.T) {
	t.Helper()
	for _, r := range all {
		if !r.used {
			t.Errorf("no document has a command like %s", r.commands)
		}
		if file, text, found := strings.Cut(r.test, " "); found {
			source := golden.Read(t, filepath.Join(repositoryRoot, file))
			if strings.HasPrefix(text, "Test") {
				text = "\nfunc " + text + "("
			}
			if !strings.Contains(source, text) {
				t.Errorf("%s has no %q, which runs %s", file, text, r.commands)
			}
		}
	}
}

// rules returns the table of the commands that TestCommandsOfTheDocuments does not run itself: first those that run
// elsewhere.
func rules() ruleList {
	const (
		planned  = "it takes minutes on a cluster; its plan was made here"
		versions = "it downloads or builds a version"
		foreign  = "cmd/rehearse/foreign_test.go TestForeignProgramsAsDocumented"
		built    = "cmd/rehearse/docs_runs_test.go TestForeignProgramsAreBuiltAsDocumented"
		cluster  = "cmd/rehearse/docs_runs_test.go TestClusterForExperimentsAsDocumented"
		newest   = "cmd/rehearse/docs_runs_test.go TestLibraryOnANewVersionAsDocumented"
		started  = "cmd/rehearse/init_test.go TestInitRuns"
		packed   = "internal/release/install_test.go TestInstallingAsDocumented"
		rollback = `(go run \./cmd/)?rehearse run scenarios/kubernetes/service-name-rollback\.yaml`
	)
	return ruleList{
		{commands: `.*:make test(-all)?`, test: ".ci/run time make test"},
		{commands: `.*:make lint`, test: "Makefile test-all: lint"},
		{commands: `.*:(make test-kind|\.ci/kind)`, test: ".ci/run time .ci/kind"},
		{commands: `.*:go test (-short \./scenarios|\./examples/gotest)`, test: "Makefile -ldflags='-s -w' ./..."},
		{commands: `.*:go vet \./\.\.\.`, test: "Makefile \tgo vet ./..."},
		{commands: `.*:go run \./cmd/rehearse run .*ingress-backend\.yaml`, test: "Makefile run --report-dir rehearse-report/quick"},
		{commands: `README.md:` + rollback, test: "suites/kubernetes/suite_test.go TestSuite"},
		{commands: `.*:(go run \./cmd/)?rehearse upgrade .*shop\.yaml.*`, test: "harness/upgrade/gallery_test.go examples/upgrade/shop.yaml"},
		{commands: `.*:rehearse upgrade .*spread\.yaml`, test: "harness/upgrade/real_test.go examples/upgrade/spread.yaml"},
		{commands: `.*:rehearse upgrade .*--ordinary`, test: "harness/upgrade/real_test.go TestUpgradeOfOrdinaryObjects"},
		{commands: `.*:rehearse conformance \./examples/team-rules`, test: "cmd/rehearse/simulators_test.go TestConformanceOfAFolder"},
		{commands: `.*:rehearse run examples/gate`, test: "cmd/rehearse/examples_test.go TestExampleOfAGate"},
		{commands: `docs/init.md:(rehearse run relaxed.*|.*rehearse conformance \./my-operator)`, test: started},
		{commands: `docs/(kai|leaderworkerset).md:rehearse .*`, test: foreign},
		{commands: `docs/kai.md:kubectl .*`, test: "cmd/rehearse/foreign_test.go TestWhichProfile"},
		{commands: `docs/(kai|leaderworkerset).md:(git |\(cd |sed ).*`, test: built},
		{commands: `docs/clusters.md:(rehearse cluster (create .* --nodes 3|transition .*batch|list|delete)|export .*|kubectl .*)`, test: cluster},
		{commands: `docs/ci.md:kubectl (create|delete) .*`, test: cluster},
		{commands: `docs/development.md:(cp|sed) .*`, test: newest},
		{commands: `docs/install.md:(sha256sum|tar|install) .*`, test: packed},
		{commands: `docs/install.md:(git tag v0\.1\.0|make release)`, test: "internal/release/binaries_test.go TestPublishBinaries"},
		{commands: `docs/install.md:make image PLATFORMS=linux/amd64 K8S=1\.36`, test: "cmd/rehearse/job_kind_test.go func imageForJob("},
		{commands: `docs/ci.md:rehearse conformance kai .*`, test: "cmd/rehearse/conformance_test.go TestConformanceInShards"},
		{commands: `docs/ci.md:rehearse job --apply .*`, test: "cmd/rehearse/job_kind_test.go TestSlowLiveJob"},
		{commands: `.*:\.ci/kind make test-kind-slow`, reason: "it takes more time than CI has: run it before a release"},
		{commands: `.*:(\.ci/kind make bench-kind|make flake)`, reason: "it measures for minutes, and tests nothing"},
		{commands: `.*:make generate`, reason: "it changes files; tests fail if they are not up to date"},
		{commands: `.*:go (get .*|mod tidy)`, reason: "it changes go.mod; go.mod requires these modules"},
		{commands: `.*:go build -o .*`, reason: "it writes outside of the repository; go test builds the same package"},
		{commands: `.*:(sudo (make|rehearse) )?(rehearse )?node-images .*`, reason: "it needs root and a container engine: .ci/kind builds node images"},
		{commands: `.*:(dockerd|sudo sysctl) .*`, reason: "it changes this machine: .ci/kind does the same"},
		{commands: `.*:(docker|kind) .*`, reason: "it needs a container engine, and the image"},
		{commands: `docs/ci.md:(until )?kubectl .*`, reason: "it needs pods that run: TestSlowLiveJob reads the same logs"},
		{commands: `.*:make operators`, reason: "it builds operators for an hour"},
		{commands: `docs/install.md:make image.*`, reason: "it builds two programs for minutes, and needs a clean checkout"},
		{commands: `docs/ci.md:git clone .*`, reason: "it reads the published repository"},
		{commands: `docs/ci.md:\(cd rehearse && go build .*`, reason: "it builds the clone of the line before"},
		{commands: `docs/install.md:ln -s .*`, reason: "it writes outside of the repository; TestHelpOfThePlugin calls rehearse by that name"},
		{commands: `.*:rehearse fetch .*`, reason: versions},
		{commands: `.*:rehearse capture .*`, reason: "it needs a live cluster; harness/transplant tests it"},
		{
			commands: `.*:rehearse (run|matrix --.*) examples/operators.*`,
			reason:   "it builds operators; TestExamples checks their scenarios, and TestMatricesOfTheDocuments the matrices",
		},
		{commands: `.*:rehearse (run|plan) .*`, reason: planned},
		{commands: `.*:(helm .*)?rehearse upgrade .*`, reason: planned + ", with other objects"},
		{commands: `.*:rehearse explore .*`, reason: planned},
		{commands: `.*:rehearse conformance examples/operators/supported`, reason: "it builds operators; TestExamples checks it"},
		{
			commands: `.*:rehearse (conformance|faults)( .*)?`,
			reason:   "it takes minutes on clusters; go test ./suites/... runs the suite and its faults",
		},
		{commands: `.*:rehearse cluster .*`, reason: "TestClusterForExperimentsAsDocumented runs these commands with other flags"},
	}
}
