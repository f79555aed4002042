package scenarios

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Each file in testdata/malformed has its own mistake. Its golden file has the messages that the author sees.
func TestMalformed(t *testing.T) {
	files, err := filepath.Glob("testdata/malformed/*.yaml")
	if err != nil || len(files) < 25 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			set, err := Load([]string{file})
			if err == nil || set != nil {
				t.Fatalf("loaded %v with error %v", set, err)
			}
			everyErrorHasAPlace(t, err, file)
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}

// everyErrorHasAPlace checks that each of the joined errors has a position and a message.
func everyErrorHasAPlace(t *testing.T, err error, file string) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("not joined: %v", err)
	}
	for _, one := range joined.Unwrap() {
		var e *Error
		if !errors.As(one, &e) {
			t.Fatalf("no *Error: %v", one)
		}
		if e.Position.File != file || e.Position.Line < 1 || e.Position.Column < 1 || e.Message == "" {
			t.Errorf("bad position or message: %+v", e)
		}
	}
}

func TestTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yaml")
	golden.Write(t, path, strings.Repeat("# comment\n", 1<<20+1))
	_, err := Load([]string{path})
	golden.Error(t, err, path+":1:1: the file is larger than 10 MB")
}

func TestDeepNesting(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 5000), strings.Repeat("- ", 5000) + "x",
		strings.Repeat("{a: ", 600) + "x" + strings.Repeat("}", 600),
	} {
		_, err := LoadBytes("deep.yaml", []byte(text))
		if err == nil {
			t.Fatal("loaded")
		}
		everyErrorHasAPlace(t, err, "deep.yaml")
	}
}
