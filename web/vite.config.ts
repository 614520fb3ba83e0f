import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// The bundle is embedded into the binary. Names carry no hash, so that a build
// of the same source is the same files.
export default defineConfig({
  plugins: [preact()],
  base: "./",
  build: {
    outDir: "../internal/report/web/dist",
    emptyOutDir: true,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8080" } },
});
