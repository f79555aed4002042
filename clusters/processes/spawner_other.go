//go:build !linux

package processes

import "errors"

var errUnsupported = errors.New("local control planes need Linux; use --provider kind or --provider existing here")

// Spawner starts processes; on Linux only.
type Spawner struct{}

// NewSpawner returns a spawner that refuses.
func NewSpawner() *Spawner { return &Spawner{} }

// Close has nothing to end.
func (*Spawner) Close() {}

// Start refuses.
func (*Spawner) Start(Spec) (*Process, error) { return nil, errUnsupported }

// NamesHosts is false: nothing is started.
func (*Spawner) NamesHosts([]string) bool { return false }

func killGroup(int) error { return errUnsupported }

func endGroup(int) error { return errUnsupported }

func freeze(int) error { return errUnsupported }

func thaw(int) error { return nil }

func runs(int, string) bool { return false }

func awaitEnd(int, func() bool) (<-chan struct{}, error) { return nil, nil }

// KillOwned finds nothing: no process was started.
func KillOwned(string) (int, error) { return 0, nil }

// BecomeOnHost refuses.
func BecomeOnHost(string, []string) error { return errUnsupported }
