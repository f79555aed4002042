package releases

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestFeatureList(t *testing.T) {
	g, cache := newFakeGo(t).withFeatures(t), t.TempDir()
	s := newStore(t, Options{CacheDir: cache, Source: Build, Go: g.path})
	list, err := s.FeatureList(t.Context(), "1.35.4")
	golden.Must(t, err)
	if list.Version != "1.35.4" || len(list.Gates) != 6 || len(list.Programs) != 0 {
		t.Errorf("got %+v", list)
	}
	if calls := golden.Read(t,
		filepath.Join(g.dir, "calls")); calls != "mod download -json k8s.io/kubernetes@v1.35.4 k8s.io/client-go@v0.35.4\n" {
		t.Errorf("called %s", calls)
	}

	mustEnsure(t, s, "1.35.4")
	list, err = s.FeatureList(t.Context(), "1.35.4")
	golden.Must(t, err)
	for _, c := range clusters.ControlPlane() {
		if !maps.Equal(list.Programs[c], map[string]bool{"RacingPods": false}) {
			t.Errorf("%s knows %v", c, list.Programs[c])
		}
	}

	warm := newStore(t, Options{CacheDir: cache, BaseURL: gone(), Go: "/nonexistent"})
	if again, err := warm.FeatureList(t.Context(), "1.35.4"); err != nil || len(again.Gates) != 6 ||
		len(again.Programs) != 3 {
		t.Errorf("warm: %+v, %v", again, err)
	}
	if n := g.calls(t, "mod"); n != 2 { // one for the list, one for the build
		t.Errorf("downloaded modules %d times", n)
	}
}

func TestFeatureListIsMadeOnce(t *testing.T) {
	g, cache := newFakeGo(t).withFeatures(t), t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		s := newStore(t, Options{CacheDir: cache, Go: g.path})
		group.Go(func() {
			if _, err := s.FeatureList(t.Context(), "1.35.4"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := g.calls(t, "mod"); n != 1 {
		t.Errorf("made %d times", n)
	}
}

func TestFeatureListKnowsOfOtherVersions(t *testing.T) {
	g := newFakeGo(t).withFeatures(t)
	s := newStore(t, Options{CacheDir: t.TempDir(), Go: g.path})
	_, err := s.FeatureList(t.Context(), "1.35.4")
	golden.Must(t, err)
	source := "modules/k8s.io/kubernetes/test/compatibility_lifecycle/reference/versioned_feature_list.yaml"
	fewer := strings.ReplaceAll(golden.Read(t, filepath.Join(g.dir, source)), "RacingTeams", "WalkingTeams")
	g.write(t, source, fewer)
	gates := "modules/k8s.io/kubernetes/pkg/features/kube_features.go"
	g.write(t, gates, strings.ReplaceAll(golden.Read(t, filepath.Join(g.dir, gates)), "RacingTeams", "WalkingTeams"))
	list, err := s.FeatureList(t.Context(), "1.34.4")
	golden.Must(t, err)
	problems := list.Check(features.VersionsOf(mustExact(t, "1.34.4")), clusters.APIServer,
		map[string]bool{"RacingTeams": true})
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "unknown to Kubernetes 1.34.4; it was added in 1.35:") {
		t.Errorf("got %v", problems)
	}
}

func TestFeatureListOfAnotherFormatIsMadeAnew(t *testing.T) {
	for name, text := range map[string]string{
		"another format": `{"format":0,"list":{"version":"1.35.4","gates":{"X":{"specs":[]}}}}`,
		"another list":   `{"format":2,"list":{"version":"1.35.3","gates":{"X":{"specs":[]}}}}`,
		"empty":          `{"format":2,"list":{"version":"1.35.4"}}`,
		"cut":            `{"format":2,"li`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, Options{CacheDir: t.TempDir(), Go: newFakeGo(t).withFeatures(t).path})
			golden.Write(t, filepath.Join(s.entry(mustExact(t, "1.35.4")).home, listName), text)
			list, err := s.FeatureList(t.Context(), "1.35.4")
			if err != nil || len(list.Gates) != 6 {
				t.Errorf("got %+v, %v", list, err)
			}
		})
	}
}

func TestNoFeatureList(t *testing.T) {
	t.Run("no go command", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := newStore(t, Options{CacheDir: t.TempDir()}).FeatureList(t.Context(), "1.35.4")
		wantNoList(t, err, "the feature gates of Kubernetes 1.35.4 cannot be checked", "go.dev/dl")
	})
	t.Run("no such module", func(t *testing.T) {
		g := newFakeGo(t)
		g.write(t, "fail", "403 Forbidden")
		_, err := newStore(t, Options{CacheDir: t.TempDir(), Go: g.path}).FeatureList(t.Context(), "1.35.4")
		wantNoList(t, err, "403 Forbidden")
	})
	t.Run("no list in the module", func(t *testing.T) {
		_, err := newStore(t, Options{CacheDir: t.TempDir(), Go: newFakeGo(t).path}).FeatureList(t.Context(), "1.35.4")
		wantNoList(t, err, "versioned_feature_list.yaml")
	})
	t.Run("interrupted is something else", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := newStore(t, Options{CacheDir: t.TempDir(), Go: newFakeGo(t).path}).FeatureList(ctx, "1.35.4")
		var none *NoFeatureListError
		if errors.As(err, &none) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func wantNoList(t *testing.T, err error, texts ...string) {
	t.Helper()
	var none *NoFeatureListError
	if !errors.As(err, &none) {
		t.Fatalf("got %v, want a *NoFeatureListError", err)
	}
	golden.Error(t, err, texts...)
}
