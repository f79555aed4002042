package systems

import (
	"errors"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// A system that is to fail has done so when its process has ended by itself with the right words; the next change wants it to serve.
func TestFails(t *testing.T) {
	system := func(script, words string) clusters.System {
		return clusters.System{Name: "a", Fails: words, Process: &clusters.SystemProcess{
			Command: []string{"sh", "-c", script}, Ready: &clusters.SystemReadiness{TCP: "127.0.0.1:1"},
		}}
	}
	s := newSet(t, newFakeCluster(t), Options{})
	refused := system("echo the configuration is wrong; exit 2", "configuration is wrong")
	converge(t, s, refused)
	converge(t, s, refused)
	if got := len(s.LogFiles()["a"]); got != 1 {
		t.Errorf("what has failed was started %d times", got)
	}
	var unmet *UnmetError
	err := s.Converge(t.Context(), []clusters.System{system("echo something else; exit 2", "configuration is wrong")})
	if !errors.As(err, &unmet) || !strings.Contains(err.Error(), "something else") {
		t.Errorf("a failure with other words: %v", err)
	}
	serving := sleeper("a")
	serving.Fails = "configuration is wrong"
	if err := s.Converge(t.Context(), []clusters.System{serving}); !errors.As(err, &unmet) || !strings.Contains(err.Error(), "it serves") {
		t.Errorf("one that serves: %v", err)
	}
	converge(t, s, sleeper("a"))
	if !alive(s.system("a").process) {
		t.Error("it does not serve again")
	}
	select {
	case err := <-s.Died():
		t.Errorf("what was to fail is reported as dead: %v", err)
	default:
	}
}
