package releases

import (
	"errors"
	"strings"
	"testing"
)

// What the cache holds is found without the Go tool and without the network.
func TestCached(t *testing.T) {
	dir := t.TempDir()
	made := newStore(t, Options{CacheDir: dir, Go: newFakeGo(t).withFeatures(t).path})
	for _, version := range []string{"1.35.10", "1.35.4", "1.34.0", "1.35.11-rc.0"} {
		if _, err := made.FeatureList(t.Context(), version); err != nil {
			t.Fatal(err)
		}
	}
	host := newHost(t, "1.34.0")
	s := newStore(t, Options{CacheDir: dir, Go: "/nowhere/go", BaseURL: host.URL})
	var versions []string
	for _, list := range s.CachedLists() {
		versions = append(versions, list.Version)
	}
	if got := strings.Join(versions, " "); got != "1.34.0 1.35.4 1.35.10 1.35.11-rc.0" {
		t.Errorf("lists of %s", got)
	}
	for version, want := range map[string]string{
		"1.35": "1.35.10", "1.34": "1.34.0", "1.35.4": "1.35.4",
		"1.36.1": "1.36.1",
	} {
		if v, found, err := s.CachedVersion(version); err != nil || !found || v.String() != want {
			t.Errorf("%s is %s, %t, %v", version, v, found, err)
		}
	}
	if v, found, err := s.CachedVersion("1.36"); found || err != nil || v.String() != "1.36" {
		t.Errorf("1.36 is %s, %t, %v", v, found, err)
	}
	for _, version := range []string{"1.35", "1.35.4", "latest"} {
		if s.Cached(version) {
			t.Errorf("%s is cached, of which there is the list alone", version)
		}
	}
	list, err := s.CachedFeatureList("1.35")
	if err != nil || list.Version != "1.35.10" || len(list.Gates) != 6 {
		t.Errorf("got %+v, %v", list, err)
	}
	var none *NoFeatureListError
	if _, err := s.CachedFeatureList("1.36"); !errors.As(err, &none) ||
		!strings.Contains(err.Error(), "rehearse fetch 1.36") {
		t.Errorf("got %v, want how to get it", err)
	}
	if _, err := s.CachedFeatureList("latest"); err == nil || errors.As(err, &none) {
		t.Errorf("got %v, want that this is no version", err)
	}
	if host.asked() != 0 {
		t.Error("the network was asked")
	}
}
