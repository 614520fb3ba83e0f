package scenario

import "testing"

// TestPresetsOf checks that a transport of an extension is a complete network design: without PFC, with its
// congestion control.
func TestPresetsOf(t *testing.T) {
	all := presetsOf([]string{"falcon", "srd"})
	if len(all) != 2 || all[0].name != "falcon" || all[0].kind != "falcon" || all[0].cc != "swift" || all[1].cc != "none" ||
		all[0].pfc || all[0].words == "" {
		t.Errorf("%+v", all)
	}
}
