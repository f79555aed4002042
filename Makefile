# Versions of the tools are pinned here; `go run` gets them through the Go module proxy.
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# The Kubernetes versions that the tests and the library speak of.
VERSIONS    := 1.33 1.34 1.35 1.36

.PHONY: test fetch lint bench fuzz generate

# Everything: style, unit tests, and the suites on real control planes.
test: lint fetch
	go test -timeout 60m ./...

# The Kubernetes programs, so that no test has to wait for them in silence.
fetch:
	go run ./cmd/rehearse fetch $(VERSIONS)

lint:
	@unformatted="$$(go run $(GOFUMPT) -l . | grep -v /testdata/ || true)"; if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...

# Ratios, each measured side by side in one run.
bench:
	go test -timeout 60m -run '^$$' -bench . -benchtime 1x ./...

fuzz:
	go test -run '^$$' -fuzz FuzzLoad -fuzztime 1m ./scenarios

# What is made of the Go types: the JSON schema and docs/scenarios.md. The tests fail when it is stale.
generate:
	go generate ./...
