package folders_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func folder(t *testing.T, root, name string, r *folders.Record) string {
	t.Helper()
	dir := filepath.Join(root, name)
	golden.Must(t, os.Mkdir(dir, 0o700))
	if r != nil {
		golden.Must(t, folders.Write(dir, *r))
	}
	return dir
}

// unlocked leaves a lock file in a folder, as a killed process does.
func unlocked(t *testing.T, dir string) {
	lock, err := folders.Lock(dir)
	golden.Must(t, err)
	golden.Must(t, lock.Close())
}

// Sweep does not report a folder without a lock file: its owner may be removing it.
func TestSweepRemovesOnlyWhatNobodyHolds(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clusters")
	golden.Must(t, os.Mkdir(root, 0o700))
	folder(t, root, "without-a-lock", nil)
	unlocked(t, folder(t, root, "killed-before-its-record", nil))
	unlocked(t, folder(t, root, "killed", &folders.Record{Name: "killed"}))
	folder(t, root, "stubborn", &folders.Record{Name: "stubborn"})
	folder(t, root, "lasting", &folders.Record{Name: "lasting", Lasting: true})
	held, err := folders.Lock(folder(t, root, "running", &folders.Record{Name: "running"}))
	golden.Must(t, err)
	defer held.Close()

	removed, err := folders.Root(root).Sweep(t.Context(), func(name, dir string) error {
		if name == "stubborn" {
			return errors.New("it will not go")
		}
		_, err := os.Stat(filepath.Join(dir, "lock"))
		if name == "without-a-lock" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s got a lock file while its owner may be removing it: %v", name, err)
		}
		return os.RemoveAll(dir)
	})
	golden.Error(t, err, "it will not go")
	if want := []string{"killed", "killed-before-its-record"}; !slices.Equal(removed, want) {
		t.Errorf("removed %v, want %v", removed, want)
	}
	left, _ := filepath.Glob(filepath.Join(root, "*"))
	if want := []string{
		filepath.Join(root, "lasting"), filepath.Join(root, "running"),
		filepath.Join(root, "stubborn"),
	}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if names, err := folders.Root(root).Lasting(); err != nil || !slices.Equal(names, []string{"lasting"}) {
		t.Errorf("lasting are %v, %v", names, err)
	}
}

// A cluster may be lasting if its record cannot be read. What another version adds to a record does not matter.
func TestSweepLeavesWhatMayBeLasting(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clusters")
	golden.Must(t, os.Mkdir(root, 0o700))
	records := map[string]string{
		"broken": `{"name": "broken", "lasti`, "newer": `{"lasting": true, "state": 7}`,
		"newer-killed": `{"lasting": false, "state": 7}`,
	}
	for name, record := range records {
		dir := folder(t, root, name, nil)
		golden.Must(t, os.WriteFile(filepath.Join(dir, folders.RecordFile), []byte(record), 0o600))
		unlocked(t, dir)
	}
	removed, err := folders.Root(root).Sweep(t.Context(), func(_, dir string) error { return os.RemoveAll(dir) })
	golden.Error(t, err, "read the record of cluster broken", "delete the folder "+filepath.Join(root, "broken"))
	if !slices.Equal(removed, []string{"newer-killed"}) {
		t.Errorf("removed %v", removed)
	}
}

func TestRecord(t *testing.T) {
	dir := folder(t, t.TempDir(), "c", &folders.Record{Name: "c", Lasting: true, State: clusters.State{Version: "1.34.4"}})
	var got folders.Record
	if err := folders.Read(dir, &got); err != nil || got.State.Version != "1.34.4" || !got.Lasting {
		t.Errorf("got %+v, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(dir, folders.RecordFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("record file: mode %v, %v; want 0600", info.Mode(), err)
	}
	err = folders.Read(filepath.Join(t.TempDir(), "gone"), &got)
	if !errors.Is(err, clusters.ErrNotFound) || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("got %v, want ErrNotFound with the cluster's name", err)
	}
}

// A cluster's user changes the record and releases the lock, just after another process has looked at the record.
func TestOpenReadsWhatTheLastUserWrote(t *testing.T) {
	dir := folder(t, t.TempDir(), "c", nil)
	held, err := folders.Lock(dir)
	golden.Must(t, err)
	file := filepath.Join(dir, folders.RecordFile)
	golden.Must(t, syscall.Mkfifo(file, 0o600)) // whoever reads it waits until the other end is closed
	done := make(chan error)
	go func() {
		before, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			done <- err
			return
		}
		_, err = before.WriteString(`{"name": "c", "state": {"version": "1.34.4", "featureGates": {"Old": true}}}`)
		after := folders.Record{Name: "c", State: clusters.State{Version: "1.35.4"}}
		done <- errors.Join(err, folders.Write(dir, after), held.Close(), before.Close())
	}()
	var got folders.Record
	lock, err := folders.Open(dir, &got)
	golden.Must(t, errors.Join(err, <-done))
	defer lock.Close()
	if got.State.Version != "1.35.4" || len(got.State.FeatureGates) > 0 {
		t.Errorf("it has read %+v", got)
	}
	if _, err := folders.Lock(dir); !errors.Is(err, folders.ErrInUse) {
		t.Errorf("the folder is not locked: %v", err)
	}
}

// A record that cannot be read leaves no lock.
func TestOpenFails(t *testing.T) {
	var r folders.Record
	none := folder(t, t.TempDir(), "none", nil)
	if _, err := folders.Open(none, &r); !errors.Is(err, clusters.ErrNotFound) {
		t.Errorf("without a record: %v", err)
	}
	if _, err := os.Stat(filepath.Join(none, "lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has a lock file: %v", err)
	}
	unfit := folder(t, t.TempDir(), "unfit", &folders.Record{Name: "unfit"})
	var other struct{ Name int }
	_, err := folders.Open(unfit, &other)
	golden.Error(t, err, "read the record of cluster unfit")
	lock, err := folders.Lock(unfit)
	golden.Must(t, err)
	defer lock.Close()
}

func TestClaimRejectsATakenName(t *testing.T) {
	root := folders.Root(filepath.Join(t.TempDir(), "clusters"))
	_, lock, err := root.Claim(t.Context(), "one")
	golden.Must(t, err)
	defer lock.Close()
	_, _, err = root.Claim(t.Context(), "one")
	golden.Error(t, err, "rehearse cluster delete one")
}

// While another rehearse sweeps the folder, an interrupt ends the wait for it.
func TestWaitForTheRootEnds(t *testing.T) {
	root := folders.Root(filepath.Join(t.TempDir(), "clusters"))
	if _, lock, err := root.Claim(t.Context(), "killed"); err != nil || lock.Close() != nil {
		t.Fatal(err)
	}
	_, err := root.Sweep(t.Context(), func(string, string) error {
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := root.Claim(interrupted, "another")
		golden.Error(t, err, "lock the folder for clusters", "context canceled")
		_, err = root.Sweep(interrupted, nil)
		golden.Error(t, err, "lock the folder for clusters", "context canceled")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
