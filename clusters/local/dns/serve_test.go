package dns

import (
	"io"
	"os"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// CoreDNS prints nothing at its start.
func TestStartIsQuiet(t *testing.T) {
	reader, writer, err := os.Pipe()
	golden.Must(t, err)
	stdout := os.Stdout
	os.Stdout = writer
	instance, err := start("example.com:0 {\n  bind 127.0.0.1\n  errors\n}\n")
	os.Stdout = stdout
	golden.Must(t, err)
	defer func() {
		if err := instance.Stop(); err != nil {
			t.Error(err)
		}
	}()
	golden.Must(t, writer.Close())
	if said, err := io.ReadAll(reader); err != nil || len(said) > 0 {
		t.Errorf("it said %q, %v", said, err)
	}
}
