package site

import "testing"

// Inventories call switches and servers by part numbers, with their vendor, with letters of a variant behind.
func TestCalled(t *testing.T) {
	for text, want := range map[string]string{
		"SN5600": "sn5600", "MSN4700-WS2RO": "sn4700", "Nvidia SN5600D": "sn5600", "nvidia-sn5640": "sn5640",
		"Nexus 9332D-GX2B": "n9k-c9332d-gx2b", "N9K-C9364D-GX2A": "n9k-c9364d-gx2a",
		"DCS-7060X6-64PE-F": "7060x6-64pe", "DCS-7060DX5-64S-R": "7060x5-64s", "Q3400-RA": "q3400",
		"QM9700": "qm9700", "MQM9700-NS2F": "qm9700", "8101-32FH-O": "8101-32fh", "BCM78900": "tomahawk5",
		"SN56000": "", "XSN5600": "", "SN4600": "", "Catalyst 9300": "", "": "", "7060X6-64": "",
	} {
		if got := Called(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"DGX H100": "dgx-h100", "NVIDIA DGX-B200": "dgx-b200",
		"dgx_h200": "dgx-h200", "DGX H1000": "", "PowerEdge XE9680": ""} {
		key := ""
		if s := ServerCalled(text); s != nil {
			key = s.Key
		}
		if key != want {
			t.Errorf("%q is %q, want %q", text, key, want)
		}
	}
	for _, key := range append(ModelNames(), ServerNames()...) { // each is called by its own key
		if s := ServerCalled(key); Called(key) != key && (s == nil || s.Key != key) {
			t.Errorf("%s is not found by its own name", key)
		}
	}
}
