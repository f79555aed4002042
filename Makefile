# Versions of the tools are pinned here; `go run` gets them through the Go module proxy.
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0
# The Kubernetes versions that the tests and the library speak of.
VERSIONS    := 1.33 1.34 1.35 1.36 1.37

# Without cgo a test program links in about half the time and is a third smaller. No code needs C.
export CGO_ENABLED := 0

# Those of the kind clusters that are tested: two adjacent minors.
KIND_VERSIONS := 1.34 1.35

.PHONY: test test-all fetch lint bench fuzz generate node-images test-kind bench-kind

# What a newcomer runs: every test that needs no cluster, and a scenario file of each suite, except
# windows and regressions, on the real control planes of two versions.
QUICK_VERSIONS := 1.34 1.36
QUICK := scenarios/kubernetes/ingress-backend.yaml scenarios/kai/hierarchies.yaml scenarios/porch/creation.yaml scenarios/grove/admission.yaml \
	scenarios/leaderworkerset/leaders.yaml scenarios/scheduling/profiles-live.yaml
test: export GOGC := 400
test:
	go run ./cmd/rehearse fetch $(QUICK_VERSIONS)
	go test -short -vet=off -ldflags='-s -w' ./...
	go run ./cmd/rehearse run --report-dir rehearse-report/quick $(QUICK)
	@echo "NOT RUN here: the linters, the other scenarios and versions, every fault, and tests that compile programs (make test-all); the tests on kind clusters (.ci/kind)"

# The packages that take longest, which begin first, so that none of them is left alone at the end.
LONG := ./suites/leaderworkerset ./suites/grove ./suites/scheduling ./cmd/rehearse ./suites/regressions ./suites/windows \
	./suites/kai ./suites/kubernetes ./harness/realtest ./suites/porch

# Everything except kind clusters: style, unit tests, and all suites on real control planes, also
# with every fault of their simulators. lint has already run go vet. -s -w omits data for debuggers,
# a third of the linker's work. Waiting clusters leave processors idle, so one package more than
# there are processors is tested at once. GOGC trades memory for less garbage collection. gotestsum
# prints each failure when it occurs, and at the end the skipped tests with their reasons. .ci/run
# reads its lines, and stops it after 80 minutes: before a package's time is up, so that a package
# that is only slow is named as not judged, and is not a failure.
test-all: export GOGC := 400
test-all: lint fetch
	go run $(GOTESTSUM) --format pkgname-and-test-fails --format-icons text -- \
		-vet=off -ldflags='-s -w' -p $$(($$(nproc) + 1)) -timeout 90m $(LONG) ./...
	@echo "NOT RUN here: scenarios labelled slow (make slow); the tests on kind clusters (.ci/kind) and for arm64 (make test-arm64); regressions and findings that need a patch release that is not in the cache (make regressions); commands of documents that are only checked (go test -v -run TestCommandsOfTheDocuments ./cmd/rehearse)"

# The Kubernetes programs, so that no test has to wait for them in silence.
fetch:
	go run ./cmd/rehearse fetch $(VERSIONS)

lint:
	@files="$$(go run $(GOFUMPT) -l .)" || exit 1; \
	unformatted="$$(echo "$$files" | grep -v /testdata/)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go run $(GOLANGCI) run ./...

# Ratios, each measured side by side in one run.
bench:
	go test -timeout 60m -run '^$$' -bench . -benchtime 1x ./...

fuzz:
	go test -run '^$$' -fuzz FuzzLoad -fuzztime 1m ./scenarios

# Unit tests for arm64, under qemu-user where this machine is not one. It lists what it does not
# run.
.PHONY: test-arm64
test-arm64:
	.ci/arm64

# What is published of a version, in dist/: binaries, built twice and compared, with checksums and
# lists of their modules. PLATFORMS="linux/amd64" for some alone.
.PHONY: release image
release:
	go run ./internal/release binaries $(if $(PLATFORMS),--platforms '$(PLATFORMS)')

# A container image in dist/, without any registry. K8S="1.36": with that version of Kubernetes,
# which must be in the cache.
image:
	go run ./internal/release image $(if $(PLATFORMS),--platforms '$(PLATFORMS)') $(if $(K8S),--kubernetes '$(K8S)')

# Generated from the Go types: the JSON schema and docs/scenarios.md. The tests fail when they are
# stale.
generate:
	go generate ./...

# Node images for kind without any container registry; needs root and debootstrap (docs/kind.md).
node-images:
	go run ./cmd/rehearse node-images $(if $(filter command line,$(origin VERSIONS)),$(VERSIONS),$(KIND_VERSIONS))

# Clusters of real nodes; needs a container engine and the node images. The packages take turns
# on fewer than four processors, where kubeadm times out beside several other nodes, and if a user
# may have few inotify instances (docs/kind.md).
TEST_KIND := REHEARSE_TEST_KIND=1 go test -count=1 -vet=off -ldflags="-s -w" -timeout 60m -v \
	-p $$([ $$(nproc) -ge 4 ] && [ $$(cat /proc/sys/fs/inotify/max_user_instances) -ge 512 ] && echo 3 || echo 1) -run
test-kind:
	$(TEST_KIND) '^TestLive' ./clusters/kind ./harness/realtest ./cmd/rehearse
	@echo "NOT RUN here: several control planes, the middle of an upgrade, and kubeadm's own upgrade (make test-kind-slow); all of the library on kind clusters (rehearse run --provider kind scenarios)"

# Several control planes, steps in the middle of an upgrade, kubeadm's own upgrade, and a Job whose
# pods are lost.
.PHONY: test-kind-slow
test-kind-slow:
	$(TEST_KIND) '^TestSlowLive' ./clusters/kind ./harness/realtest ./cmd/rehearse
	go run ./cmd/rehearse run --provider kind --report-dir rehearse-report/kind-windows scenarios/windows

bench-kind:
	REHEARSE_TEST_KIND=1 go test -p 1 -timeout 60m -run '^$$' -bench Live -benchtime 1x -v ./clusters/kind ./cmd/rehearse

# Scenarios that wait for minutes.
.PHONY: slow
slow: fetch
	go run ./cmd/rehearse run --label slow:minutes --report-dir rehearse-report/slow scenarios/scheduling scenarios/windows

# All regressions of the gallery, and what explorations found. Versions that are not in the cache
# are downloaded, or built in 3 to 11 minutes each. go test skips scenarios that need one, and
# names them.
.PHONY: regressions
regressions: fetch
	go run ./cmd/rehearse run --report-dir rehearse-report/regressions scenarios/regressions
	go run ./cmd/rehearse run --no-sharing --report-dir rehearse-report/findings docs/findings

# Every suite against every fault of its simulator, as in make test-all, but with the full output.
.PHONY: faults
faults: fetch
	GOGC=400 go test -count=1 -ldflags="-s -w" -p $$(nproc) -timeout 60m -v -run '^TestSuite$$/^faults$$' ./suites/...

# Every suite under each liberty of its simulator, and under all that go together.
.PHONY: liberties
liberties: fetch
	@for suite in porch kai grove leaderworkerset; do go run ./cmd/rehearse faults $$suite --try --kind liberties || exit 1; done

# A suite of scenarios many times, until the first failure, whose report stays:
# make flake TIMES=10 FLAGS="--focus 1.36"
SUITE := leaderworkerset
TIMES := 50
FLAGS :=
.PHONY: flake
flake: fetch
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && trap 'exit 130' INT TERM && go build -o "$$folder/rehearse" ./cmd/rehearse || exit 1; \
	for i in $$(seq $(TIMES)); do \
		echo "run $$i of $(TIMES)"; \
		"$$folder/rehearse" run --report-dir rehearse-report/flake $(FLAGS) scenarios/$(SUITE) || exit 1; \
	done

# The pictures of reports in README and docs, from real runs. Installs a browser where there is none
# (.ci/browser).
.PHONY: pictures
pictures: fetch
	docs/pictures/make

# Real operators through upgrades (docs/operators.md). Each version is built once, which takes
# minutes.
.PHONY: operators
operators:
	go run ./cmd/rehearse fetch examples/operators
	go run ./cmd/rehearse run --report-dir rehearse-report/operators examples/operators
