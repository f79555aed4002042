package cli

import "testing"

func TestVersionsThatIdentifyAProgram(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.2.0": true, "v0.0.0-20261127041032-a425f4fe1f69": true, "a425f4fe1f695a968ea902b337b22dcf7342761f": true,
		"v0.0.0-20261127041032-a425f4fe1f69+dirty": false, "v2.0.0+incompatible.dirty": false,
		"(devel)": false, "unknown": false, "": false,
	} {
		if got := identifies(version); got != want {
			t.Errorf("%q: %t, want %t", version, got, want)
		}
	}
}

// A build is recorded exactly if the version does not identify this program.
func TestBuildOfThisProgram(t *testing.T) {
	if build := programBuild(); (build == "") != identifies(ProgramVersion()) {
		t.Errorf("version %s, build %q", ProgramVersion(), build)
	}
}
